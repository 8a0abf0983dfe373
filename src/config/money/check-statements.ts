import type { PipelineConfig } from '../../core/config.ts';
import { isNamedTimeZone } from '../../core/time/time-zone.ts';
import { helpForTimeZone } from '../check-timing.ts';
import type { ConfigFinding } from '../configured-kind.ts';

/** Checks the time zone of statements and the settings for the conversion of amounts. */
export function* checkStatements({ statements }: PipelineConfig): Generator<ConfigFinding> {
  const { timeZone, reportingCurrency, fx } = statements;
  if (!isNamedTimeZone(timeZone)) {
    const message = `statements.time_zone: "${timeZone}" is not a time zone.`;
    yield { path: ['statements', 'time_zone'], message, help: helpForTimeZone(timeZone) };
  }
  if (fx !== null && reportingCurrency === null)
    yield {
      path: ['statements', 'fx'],
      message: 'statements.fx needs statements.reporting_currency, into which its rates convert amounts.',
      help: 'Add `reporting_currency:` under statements, for example `reporting_currency: EUR`.',
    };
  if (reportingCurrency !== null && !Intl.supportedValuesOf('currency').includes(reportingCurrency))
    yield {
      path: ['statements', 'reporting_currency'],
      message: `statements.reporting_currency: "${reportingCurrency}" is not a currency.`,
      help: 'Write its three letters, for example EUR.',
    };
}
