import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit.ts';
import { orderPage } from './order.ts';
import { ordersPage } from './orders.ts';
import { overviewPage } from './overview.ts';

/** Every page, in the order of the navigation. */
export const pages: readonly ConsolePage[] = [overviewPage, ordersPage, orderPage, auditPage];
