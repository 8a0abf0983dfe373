import type { RunReport } from '../../../model/run.ts';
import { ordersReport } from './attribute-orders.ts';
import { customersReport } from './identify-customers.ts';
import { mirrorReport } from './mirror-account.ts';
import type { ReportRenderer } from './report-renderer.ts';

/** How the report of each kind of job is shown. A new kind is a file beside this one, and a line here. */
const renderers: {
  readonly [Kind in RunReport['kind']]: ReportRenderer<Extract<RunReport, { kind: Kind }>>;
} = {
  'attribute-orders': ordersReport,
  'identify-customers': customersReport,
  'mirror-account': mirrorReport,
};

/** The renderer of a kind of job: the map above pairs each with its own report. */
export function rendererOf(kind: RunReport['kind']): ReportRenderer<RunReport> {
  return renderers[kind];
}
