/** The kinds of records in an account. */
export type RecordKind = 'brand' | 'dealflow' | 'deal' | 'collaboration';

export type ColumnType = 'text' | 'id' | 'boolean' | 'integer' | 'numeric';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  /** Field names to read it from. The first one that a record has is used. */
  readonly from: readonly string[];
  /** True if the contract lists the field for every record. */
  readonly isPromised: boolean;
};

/** How a kind of record is stored: its table of versions, its key, and its columns. */
export type RecordShape = {
  readonly kind: RecordKind;
  readonly table: string;
  readonly key: string;
  /** Fields that may hold the id. The first one that a record has is used. */
  readonly idFrom: readonly string[];
  readonly columns: readonly Column[];
  /** Whether a name in the record is the name of a person. */
  readonly isAboutPerson: boolean;
};

function column(name: string, type: ColumnType, from: readonly string[] = [name]): Column {
  return { name, type, from, isPromised: false };
}

function promised(name: string, type: ColumnType): Column {
  return { name, type, from: [name], isPromised: true };
}

/** `update_dealstage` names a dealflow `dashboard_id` (section Other resources). */
const DEALFLOW = column('dealflow_id', 'id', ['dealflow_id', 'dashboard_id']);

export const brandShape: RecordShape = {
  kind: 'brand',
  table: 'mirror.brand_versions',
  key: 'brand_id',
  idFrom: ['id', 'brand_id'],
  columns: [column('name', 'text', ['name', 'brand_name'])],
  isAboutPerson: false,
};

export const dealflowShape: RecordShape = {
  kind: 'dealflow',
  table: 'mirror.dealflow_versions',
  key: 'dealflow_id',
  idFrom: ['id', 'dealflow_id', 'dashboard_id'],
  columns: [column('brand_id', 'id'), column('name', 'text', ['name', 'dealflow_name'])],
  isAboutPerson: false,
};

/**
 * The promised fields are those of section Deal. The others appear in events or are accepted when a deal is
 * created.
 */
export const dealShape: RecordShape = {
  kind: 'deal',
  table: 'mirror.deal_versions',
  key: 'deal_id',
  idFrom: ['id', 'deal_id'],
  columns: [
    promised('influencer_handle', 'text'),
    column('platform', 'text'),
    promised('brand_id', 'id'),
    DEALFLOW,
    promised('is_active', 'boolean'),
    column('funnel_step', 'integer', ['funnel_step', 'dealflow_funnel_step']),
    column('total_clicks', 'numeric'),
    column('total_referrals', 'numeric'),
    column('total_sales', 'numeric'),
    column('total_payouts', 'numeric'),
    column('total_commission_earned', 'numeric'),
    column('total_fixed_fee_earned', 'numeric'),
  ],
  isAboutPerson: true,
};

export const collaborationShape: RecordShape = {
  kind: 'collaboration',
  table: 'mirror.collaboration_versions',
  key: 'collab_id',
  idFrom: ['collab_id', 'id'],
  columns: [
    column('deal_id', 'id'),
    column('brand_id', 'id'),
    DEALFLOW,
    column('code', 'text'),
    column('code_perc', 'numeric'),
    column('commission_perc', 'numeric'),
    column('custom_url', 'text'),
    column('custom_url_target', 'text'),
    column('clicks', 'numeric'),
    column('referrals', 'numeric'),
  ],
  isAboutPerson: true,
};
