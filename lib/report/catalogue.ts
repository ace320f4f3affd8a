/**
 * The field catalogue: the one source of field names, roles, types, columns and meanings. Validation, SQL, CSV typing,
 * table definitions, sample events and documents are derived from it. A new field of a report is one line here.
 */

/** A dimension that is taken from the record's time: the hour of `event_time`, or the partition `day`. */
const time = (name: string, grain: 'hour' | 'day', meaning: string) =>
  ({ role: 'dimension', type: 'datetime', name, grain, meaning }) as const;

const columnField =
  <const Role, const Type>(role: Role, type: Type) =>
  (name: string, column: string, meaning: string) =>
    ({ role, type, name, column, meaning }) as const;

const id = columnField('dimension', 'integer');
const text = columnField('dimension', 'string');
/** A metric is the sum of its column. */
const count = columnField('metric', 'integer');
const money = columnField('metric', 'float');

type IdDimension = ReturnType<typeof id>;
export type TimeDimension = ReturnType<typeof time>;
export type ColumnDimension = IdDimension | ReturnType<typeof text>;
export type Dimension = TimeDimension | ColumnDimension;
export type Metric = ReturnType<typeof count | typeof money>;
export type Field = Dimension | Metric;
export type FieldType = Field['type'];

/**
 * A metric that a report counts at two levels. Records that name the `finer` dimension count in `finerColumn`. Records
 * on which it is NULL count in the metric's own column, and belong only to the `coarser` dimension. A report that is
 * grouped by the finer dimension shows the finer count.
 */
export interface Levels {
  readonly metric: Metric;
  readonly finer: ColumnDimension;
  readonly finerColumn: string;
  readonly coarser: ColumnDimension;
}

/** A report's fields in the order of docs/contract.md#the-two-reports, and the table that holds its records. */
export interface Report {
  /** The last segment of the route's path (docs/contract.md#the-two-reports). */
  readonly name: string;
  readonly title: string;
  readonly table: string;
  /** The owner of the report's rows: a caller sees only the rows of its own companies. */
  readonly governedBy: Owner;
  readonly levels?: Levels;
  readonly fields: readonly Field[];
}

const times = [
  time('DateTime', 'hour', 'hour of the record, UTC'),
  time('Day', 'day', 'day of the record, UTC'),
];
const placement = id('PlacementId', 'placement_id', 'placement identifier');
const container = id('ContainerId', 'container_id', 'container identifier');
const publisherAccount = id('PublisherAccountId', 'publisher_account_id', 'publisher account identifier');
const publisherCompany = id('PublisherCompanyId', 'publisher_company_id', 'publisher company identifier');
const advertiserCompany = id('AdvertiserCompanyId', 'advertiser_company_id', 'advertiser company identifier');
const deviceOrProxy = text('DeviceOrProxy', 'device_or_proxy', 'device or proxy type');
const opens = count('Opens', 'container_opens', 'total number of opens');

/**
 * The dimensions that identify a row's owner. Each key also names a list of the dimension's ids: in the records of
 * partners, in the stage files, and in the options of `npm run partner`.
 */
const owners = {
  publisherCompanies: publisherCompany,
  advertiserCompanies: advertiserCompany,
} satisfies Readonly<Record<string, IdDimension>>;

export type Owner = keyof typeof owners;

export const publisherReport: Report = {
  name: 'publisherperformance',
  title: 'Publisher performance report',
  table: 'publisher_events',
  governedBy: 'publisherCompanies',
  levels: { metric: opens, finer: placement, finerColumn: 'placement_opens', coarser: container },
  fields: [
    ...times,
    placement,
    container,
    publisherAccount,
    publisherCompany,
    deviceOrProxy,
    count('ServedAds', 'served_ads', 'total number of served ads'),
    opens,
    count('Clicks', 'clicks', 'total number of clicks'),
    money('Revenue', 'revenue', 'total revenue'),
  ],
};

export const advertiserReport: Report = {
  name: 'advertiserperformance',
  title: 'Advertiser performance report',
  table: 'advertiser_events',
  governedBy: 'advertiserCompanies',
  fields: [
    ...times,
    advertiserCompany,
    id('CampaignId', 'campaign_id', 'campaign identifier'),
    id('CampaignLineId', 'campaign_line_id', 'campaign line identifier'),
    id('CreativeId', 'creative_id', 'creative identifier'),
    text('DemandOrigin', 'demand_origin', 'demand origin'),
    placement,
    container,
    publisherAccount,
    publisherCompany,
    deviceOrProxy,
    count('Impressions', 'impressions', 'total number of impressions'),
    count('Clicks', 'clicks', 'total number of clicks'),
    count('Conversions', 'conversions', 'number of recorded conversions'),
    money('ConversionRevenue', 'conversion_revenue', 'revenue from conversions'),
    money('Spend', 'spend', 'total spend'),
  ],
};

export const reports: readonly Report[] = [publisherReport, advertiserReport];

export const reportOf = (name: string): Report | undefined => reports.find((report) => report.name === name);

const described = (example: string, unit: string, exactness: string) => ({ example, unit, exactness });

/** What a field's values look like in the CSV: an example, what they count or name, and how exact they are. */
export const valuesOf = (field: Field) => {
  if (field.type === 'datetime')
    return field.grain === 'hour'
      ? described('2026-02-01T13:00:00Z', 'hour, UTC', 'the instant at which the hour begins')
      : described('2026-02-01T00:00:00Z', 'day, UTC', 'the midnight that begins the day');
  if (field.type === 'string') return described('Mobile', 'text', 'as recorded; capital letters count');
  if (field.type === 'float') return described('12.345600', 'amount of money', 'exact decimal, six places');
  return field.role === 'metric'
    ? described('1234', 'count', 'exact integer, 64 bits')
    : described('9007199254740993', 'identifier', 'exact integer, 64 bits');
};

export const fieldOf = ({ fields }: Report, name: string): Field | undefined =>
  fields.find((field) => field.name === name);

export const dimensionsOf = ({ fields }: Report): Dimension[] =>
  fields.filter((field) => field.role === 'dimension');

export const metricsOf = ({ fields }: Report): Metric[] => fields.filter((field) => field.role === 'metric');

export const ownerOf = ({ governedBy }: Report): IdDimension => owners[governedBy];

/** The names of the owners. `Object.keys` types them as plain strings. */
export const ownerNames = Object.keys(owners) as Owner[];

export const byOwner = <T>(make: (owner: Owner) => T) =>
  Object.fromEntries(ownerNames.map((owner) => [owner, make(owner)])) as Record<Owner, T>;
