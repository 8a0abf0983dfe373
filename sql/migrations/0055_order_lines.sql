-- Products that terms exclude: what was bought in an order, and what of its revenue earns nothing.

alter table intake.orders add column lines jsonb check (jsonb_typeof(lines) = 'array');
comment on column intake.orders.lines is 'What was bought: SKU (folded; empty where a line has none) and amount after the discounts of its lines, as [["gift-50", "25.00"]]. Null: unknown, because order_lines of the source was off when the order was read, the export does not say, a line cannot be read, or rows of the order are far apart. No part of content_hash.';

alter table ops.statement_lines add column excluded_amount numeric(18,4) check (excluded_amount > 0 and excluded_amount <= net_amount);
comment on column ops.statement_lines.excluded_amount is 'Part of net_amount that earns nothing, because the terms exclude the product; null: none.';

alter table reporting.return_months add column unlined_orders bigint not null default 0;
comment on column reporting.return_months.unlined_orders is 'Orders whose terms exclude products, and of which it is unknown what was bought.';
