import { defineCommand } from '../command.ts';
import { TAKES } from './init-options.ts';

export const initCommand = defineCommand({
  name: 'init',
  changes: true,
  description: 'recognise exports, and write a configuration for them',
  takes: TAKES,
  examples: [
    [
      'init ./exports',
      'show what the files are, ask for what they do not say, and write the configuration here',
    ],
    [
      'init ./exports --out my-shop --env-file .env',
      'with a key of the service: offers its brands, and looks for owners of codes',
    ],
    ['init ./exports --brand 4819 --time-zone Europe/Amsterdam --yes', 'without questions, for a script'],
    ['init s3://acme/nl/ s3://acme/uk/ --currency nl-shop=EUR', 'several places; an answer for one source'],
    [
      'init --check --config my-shop/pipeline.yaml',
      'check whether the newest files still fit the configuration',
    ],
  ],
  notes:
    'Nothing is sent, and no file is overwritten: a second run shows what it would change.\nAnswers are for every source, or for one: --currency SOURCE=EUR. Give an option several times.',
  action: async ({ output }, { places, ...options }) =>
    options.check === true
      ? (await import('./check-sources.ts')).checkSources(output, options)
      : (await import('./perform-init.ts')).performInit(output, places, options),
});
