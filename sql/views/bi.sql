comment on schema bi is 'For analysts: documented views, the only promise to them. No personal data, no secrets; days are in UTC; money stands beside its currency. docs/reporting.md';
