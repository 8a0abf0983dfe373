import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../../src/cli/program.ts';
import { createMetrics } from '../../src/monitoring/observe/metrics.ts';
import { readRules } from './alerts.ts';
import { DASHBOARD, findMisplaced, panelOf } from './panels.ts';
import { metricsIn } from './promql.ts';

const { alerts, recordings } = readRules();
const names = new Set(alerts.map(({ alert }) => alert));

function promtool(...words: readonly string[]) {
  return spawnSync('promtool', words, { encoding: 'utf8' });
}

/** promtool is no npm package. It is installed with Prometheus. */
const hasPromtool = promtool('--version').status === 0;

/**
 * Returns the name, as used in expressions, of every metric that /metrics can expose, and of every recording
 * rule.
 */
async function knownMetrics(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics({
    version: '0',
    readSamples: async () => null,
    nextSlots: () => [],
    lastPoll: () => null,
    atWork: () => [],
    isLedgerContinuous: () => true,
  });
  const text = await metrics.text();
  const defined = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  return new Set([...defined, ...recordings.map(({ record }) => record)]);
}

describe('the alerts', () => {
  it('query only metrics that /metrics exposes or a recording rule defines', async () => {
    const known = await knownMetrics();
    const asked = [...alerts, ...recordings].flatMap(({ expr }) => metricsIn(expr));
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });

  it('have one runbook each, of the same name, and every runbook has an alert', () => {
    for (const { alert, annotations } of alerts) {
      const kebab = alert
        .replace('InfluencerSync', '')
        .replaceAll(/(?<=.)([A-Z])/g, '-$1')
        .toLowerCase();
      expect(annotations.runbook).toBe(`docs/runbooks/${kebab}.md`);
    }
    const used = new Set(alerts.map(({ annotations }) => annotations.runbook));
    expect([...used].toSorted()).toEqual(globSync('docs/runbooks/*.md').toSorted());
  });

  it('are listed in docs/observability.md with their severity and their runbook', () => {
    const page = readFileSync('docs/observability.md', 'utf8');
    const listed = [...page.matchAll(/^\| \[(\w+)\]\(runbooks\/([\w-]+)\.md\) \| ([a-z ]+) \|/gm)];
    expect(new Set(listed.map(([, alert]) => alert))).toEqual(names);
    for (const [, alert, runbook, severity] of listed) {
      const rules = alerts.filter((rule) => rule.alert === alert);
      expect(rules[0]?.annotations.runbook).toBe(`docs/runbooks/${runbook}.md`);
      expect(rules.map((rule) => rule.labels.severity).join(' or ')).toBe(severity);
    }
  });

  it('are all tested by rules.test.yaml', () => {
    const tests = readFileSync('deploy/prometheus/rules.test.yaml', 'utf8');
    for (const { annotations } of alerts) expect(tests).toContain(`runbook: ${annotations.runbook}`);
  });

  it.skipIf(!hasPromtool)('pass the tests of rules.test.yaml in promtool', { timeout: 120_000 }, () => {
    const { status, stdout, stderr } = promtool('test', 'rules', 'deploy/prometheus/rules.test.yaml');
    expect(status, stdout + stderr).toBe(0);
  });
});

it('docs/observability.md lists every metric of this project', async () => {
  const page = readFileSync('docs/observability.md', 'utf8');
  const ours = [...(await knownMetrics())].filter((name) => name.startsWith('influencer_sync_'));
  const missing = ours.filter((name) => !page.includes(name.replace(/_(bucket|count|sum)$/, '')));
  expect(missing).toEqual([]);
});

describe('the operations dashboard', () => {
  const Datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.string() });
  const Target = z.looseObject({
    refId: z.string(),
    datasource: Datasource,
    editorMode: z.literal('code'),
    expr: z.string(),
    legendFormat: z.string(),
  });
  const Panel = panelOf(Datasource, z.array(Target).min(1));
  const Dashboard = z.looseObject({ ...DASHBOARD, panels: z.array(Panel) });
  const { panels } = Dashboard.parse(
    JSON.parse(readFileSync('deploy/grafana/dashboards/operations.json', 'utf8')),
  );

  it('can be imported by Grafana: its panels have unique IDs and do not overlap', () => {
    expect(findMisplaced(panels)).toEqual([]);
  });

  it('queries only existing metrics of the provisioned data source', async () => {
    const known = await knownMetrics();
    const targets = panels.flatMap((panel) => panel.targets);
    expect(targets.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !known.has(name))).toEqual([]);
    const provisioned = parse(
      readFileSync('deploy/grafana/provisioning/datasources/influencer-sync.yaml', 'utf8'),
    ) as { datasources: { type: string; uid: string }[] };
    const used = new Set([...panels, ...targets].map(({ datasource: { type, uid } }) => `${type} ${uid}`));
    expect([...used]).toEqual(['prometheus influencer-sync-metrics']);
    expect(provisioned.datasources.map(({ type, uid }) => `${type} ${uid}`)).toContain([...used][0]);
  });

  it('refers only to existing runbooks', () => {
    const named = panels.flatMap(({ description }) => [...description.matchAll(/Runbook: ([\w-]+)\./g)]);
    expect(named.length).toBeGreaterThan(5);
    for (const [, runbook] of named) expect(existsSync(`docs/runbooks/${runbook}.md`)).toBe(true);
  });
});

it('prometheus.yml keeps the job label of the metrics', () => {
  const { scrape_configs: scrapes } = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')) as {
    scrape_configs: { honor_labels?: boolean }[];
  };
  expect(scrapes.map(({ honor_labels: isKept }) => isKept)).toEqual([true]);
});

describe('a runbook', () => {
  const runbooks = globSync('docs/runbooks/*.md').map(
    (path) => [basename(path), readFileSync(path, 'utf8')] as const,
  );

  it.each(runbooks)('%s explains meaning, impact, diagnosis, remedy and prevention', (_, text) => {
    expect(text).toMatch(/^# InfluencerSync\w+\n\n[A-Z]/);
    expect(names).toContain(/^# (\w+)/.exec(text)?.[1]);
    expect(text).toContain('**At stake.** ');
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      'First look',
      'What to do',
      'Prevent it',
    ]);
  });

  it.each(runbooks)('%s shows only commands and options that exist', (_, text) => {
    const program = createProgram(() => async () => {});
    const shown = [...text.matchAll(/npx influencer-sync ([^\n`#]+)/g)].map(([, words = '']) => words.trim());
    expect(text).toMatch(/^ {4}npx influencer-sync /m);
    for (const words of shown) {
      const [name = '', second = '', ...rest] = words.replaceAll(/'[^']*'|"[^"]*"/g, 'TEXT').split(/\s+/);
      const command = program.commands.find((candidate) => candidate.name() === name);
      const part = command?.commands.find((candidate) => candidate.name() === second) ?? command;
      const options = [second, ...rest].filter((word) => word.startsWith('--'));
      expect(part, words).toBeDefined();
      expect(
        options.filter((option) => !part?.options.some(({ long }) => long === option)),
        words,
      ).toEqual([]);
    }
  });
});
