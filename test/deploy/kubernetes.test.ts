import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../jobs/index.ts';

// `.ci/manifests` validates the manifests against Kubernetes' schemas and compares them with the chart. This
// test needs only Node.
const DEPLOY = new URL('../../deploy/', import.meta.url).pathname;

type Container = {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: unknown;
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};

type PodSpec = {
  readonly containers: readonly [Container];
  readonly securityContext: unknown;
  readonly terminationGracePeriodSeconds: number;
  readonly automountServiceAccountToken: boolean;
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly items: readonly { readonly key: string; readonly path: string }[] };
    readonly emptyDir?: unknown;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
};

type Template = { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: PodSpec };

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
    readonly selector?: { readonly matchLabels: Record<string, string> };
    readonly podSelector?: { readonly matchLabels: Record<string, string> };
    readonly policyTypes?: readonly string[];
    readonly concurrencyPolicy?: string;
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
};

function readManifests(name: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(join(DEPLOY, 'kubernetes', name), 'utf8'))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

function templateOf({ spec }: Manifest): Template | undefined {
  return spec?.template ?? spec?.jobTemplate?.spec.template;
}

const files = {
  migrate: readManifests('migrate.yaml'),
  serve: readManifests('serve.yaml'),
  workers: readManifests('workers.yaml'),
};
const cronjobs = readManifests('cronjobs.yaml');
const all = [...files.migrate, ...files.serve, ...files.workers, ...cronjobs];
const pods = all.flatMap((manifest) => {
  const template = templateOf(manifest);
  const claims = manifest.spec?.volumeClaimTemplates?.map((claim) => claim.metadata.name) ?? [];
  return template === undefined ? [] : [{ name: manifest.metadata.name, claims, ...template }];
});
const config = loadConfig(new URL('../../config/pipeline.yaml', import.meta.url).pathname, {});

describe('the Kubernetes manifests', () => {
  it('contain a migration, two processes that serve, and a job for each schedule', () => {
    expect(files.migrate.map(({ kind }) => kind)).toEqual(['Job']);
    expect(files.serve.map(({ kind }) => kind).toSorted()).toEqual([
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
      'StatefulSet',
    ]);
    expect(files.serve.find(({ kind }) => kind === 'StatefulSet')?.spec.replicas).toBe(2);
    expect(files.workers.map((one) => [one.kind, templateOf(one)?.spec.containers[0].args])).toEqual([
      ['StatefulSet', ['work']],
    ]);
    const scheduled = cronjobs.filter(({ kind }) => kind === 'CronJob');
    expect(scheduled.map(({ spec }) => spec.concurrencyPolicy)).toEqual(scheduled.map(() => 'Forbid'));
    const jobs = scheduled.map((one) => templateOf(one)?.spec.containers[0].args[1]);
    expect(jobs.toSorted()).toEqual(Object.keys(config.jobs).toSorted());
  });

  it.each(pods)(
    'give a pod of $name few privileges, and only its data and /tmp to write to',
    ({ spec, claims }) => {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const [container] = spec.containers;
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources.limits.memory).toMatch(/^\d+Gi$/);
      expect(container.image).toMatch(/^[\w./-]+:[\w.]+$/);
      expect(container.image).not.toMatch(/:latest$/);
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(config.serve.graceSeconds);
      const volumes = [...spec.volumes.map(({ name }) => name), ...claims];
      expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted());
    },
  );

  it('keep the data folder of everything that posts on a claim, which outlives the pod', () => {
    const lasting = pods.map(({ name, spec, claims }) => {
      expect(spec.volumes.filter(({ emptyDir }) => emptyDir !== undefined).map((one) => one.name)).toEqual([
        'tmp',
      ]);
      const claim = spec.volumes.find((volume) => volume.name === 'data')?.persistentVolumeClaim?.claimName;
      return [name.replace('influencer-sync', ''), claim ?? claims[0] ?? null];
    });
    const [migrate, ...posting] = lasting;
    expect(migrate).toEqual(['-migrate', null]);
    expect(posting.slice(0, 2)).toEqual([
      ['', 'data'],
      ['-workers', 'data'],
    ]);
    const claims = cronjobs.filter(({ kind }) => kind === 'PersistentVolumeClaim');
    for (const [, claim] of posting.slice(2)) expect(claim).toBe(claims[0]?.metadata.name);
  });

  it.each(pods)(
    'set only variables that the configuration uses in a pod of $name, with secrets as files',
    ({ spec }) => {
      const [{ env }] = spec.containers;
      const names = env.map(({ name }) => name.replace(/_FILE$/, ''));
      expect(config.variables).toEqual(expect.arrayContaining(names));
      for (const { name } of env.filter((each) => /KEY|SECRET|PASSWORD|DATABASE/.test(each.name)))
        expect(name).toMatch(/_FILE$/);
      const mounted = spec.volumes.flatMap(
        ({ secret }) => secret?.items.map(({ path }) => `/secrets/${path}`) ?? [],
      );
      const used = env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => value);
      expect(used.toSorted()).toEqual(mounted.toSorted());
    },
  );

  it('give only the migration the password of the owner of the tables', () => {
    const text = (manifests: readonly Manifest[]) => JSON.stringify(manifests);
    expect(text(files.migrate)).toContain('migration-url');
    expect(text([...files.serve, ...cronjobs])).not.toContain('migration-url');
  });

  it('probe the endpoints of serve and select the right pods', () => {
    const deployment = files.serve.find(({ kind }) => kind === 'StatefulSet');
    const [container] = deployment?.spec.template?.spec.containers ?? [];
    // The port of the probes is the one that it listens on, whatever the configuration says.
    expect(container?.args).toEqual(['serve', '--port', String(container?.ports?.[0]?.containerPort)]);
    expect(container?.startupProbe).toBeDefined();
    expect(container?.livenessProbe?.httpGet.path).toBe('/healthz');
    expect(container?.readinessProbe?.httpGet.path).toBe('/readyz');
    const labels = deployment?.spec.template?.metadata.labels;
    for (const { kind, spec } of files.serve.filter((one) => one.kind !== 'Service')) {
      const selector = spec?.selector ?? spec?.podSelector;
      if (selector !== undefined) expect(labels, kind).toMatchObject(selector.matchLabels);
    }
    const policy = files.serve.find(({ kind }) => kind === 'NetworkPolicy');
    expect(policy?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
  });

  it('have the version of the package, like the chart', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const chart = parse(readFileSync(join(DEPLOY, 'helm/Chart.yaml'), 'utf8')) as Record<string, string>;
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
    for (const { spec } of pods) expect(spec.containers[0].image).toMatch(new RegExp(`:${version}$`));
  });
});
