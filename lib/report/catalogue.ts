/**
 * The field catalogue: the one source of field names, roles, types, columns and meanings. Validation, SQL,
 * CSV typing, table definitions, sample events and documents are derived from it. A new field of a report
 * is one line here.
 */

export type FieldType = 'datetime' | 'integer' | 'string' | 'float';

/** A dimension that is read off the record's time: the hour of `event_time`, or the partition `day`. */
interface TimeDimension {
  readonly role: 'dimension';
  readonly type: 'datetime';
  readonly grain: 'hour' | 'day';
  readonly meaning: string;
}

interface ColumnDimension {
  readonly role: 'dimension';
  readonly type: 'integer' | 'string';
  readonly column: string;
  readonly meaning: string;
}

export type Dimension = TimeDimension | ColumnDimension;

/**
 * A metric is the sum of its column. Some are counted at two levels: records that name the `finer` dimension
 * count in `finer.column`; records on which that dimension is NULL belong to the `coarser` dimension alone
 * and count in `column`. The report shows the finer count where it is grouped by the finer dimension.
 */
export interface Metric {
  readonly role: 'metric';
  readonly type: 'integer' | 'float';
  readonly column: string;
  readonly meaning: string;
  readonly levels?: { readonly finer: string; readonly finerColumn: string; readonly coarser: string };
}

export type Field = Dimension | Metric;

/** A report's fields in the order of docs/contract.md#the-two-reports, and the table that holds its records. */
export interface Report {
  /** The last segment of the route's path (docs/contract.md#the-two-reports). */
  readonly name: string;
  readonly title: string;
  readonly table: string;
  /** The dimension whose values a caller's token names: it sees the rows of those companies and no others. */
  readonly governedBy: 'PublisherCompanyId' | 'AdvertiserCompanyId';
  readonly fields: Readonly<Record<string, Field>>;
}

const hour = (meaning: string): Dimension => ({
  role: 'dimension',
  type: 'datetime',
  grain: 'hour',
  meaning,
});
const day = (meaning: string): Dimension => ({ role: 'dimension', type: 'datetime', grain: 'day', meaning });
const id = (column: string, meaning: string): Dimension => ({
  role: 'dimension',
  type: 'integer',
  column,
  meaning,
});
const text = (column: string, meaning: string): Dimension => ({
  role: 'dimension',
  type: 'string',
  column,
  meaning,
});
const count = (column: string, meaning: string, levels?: NonNullable<Metric['levels']>): Metric => ({
  role: 'metric',
  type: 'integer',
  column,
  meaning,
  ...(levels && { levels }),
});
const money = (column: string, meaning: string): Metric => ({
  role: 'metric',
  type: 'float',
  column,
  meaning,
});

export const publisherReport: Report = {
  name: 'publisherperformance',
  title: 'Publisher performance report',
  table: 'publisher_events',
  governedBy: 'PublisherCompanyId',
  fields: {
    DateTime: hour('hour of the record, UTC'),
    Day: day('day of the record, UTC'),
    PlacementId: id('placement_id', 'placement identifier'),
    ContainerId: id('container_id', 'container identifier'),
    PublisherAccountId: id('publisher_account_id', 'publisher account identifier'),
    PublisherCompanyId: id('publisher_company_id', 'publisher company identifier'),
    DeviceOrProxy: text('device_or_proxy', 'device or proxy type'),
    ServedAds: count('served_ads', 'total number of served ads'),
    Opens: count('container_opens', 'total number of opens', {
      finer: 'PlacementId',
      finerColumn: 'placement_opens',
      coarser: 'ContainerId',
    }),
    Clicks: count('clicks', 'total number of clicks'),
    Revenue: money('revenue', 'total revenue'),
  },
};

export const advertiserReport: Report = {
  name: 'advertiserperformance',
  title: 'Advertiser performance report',
  table: 'advertiser_events',
  governedBy: 'AdvertiserCompanyId',
  fields: {
    DateTime: hour('hour of the record, UTC'),
    Day: day('day of the record, UTC'),
    AdvertiserCompanyId: id('advertiser_company_id', 'advertiser company identifier'),
    CampaignId: id('campaign_id', 'campaign identifier'),
    CampaignLineId: id('campaign_line_id', 'campaign line identifier'),
    CreativeId: id('creative_id', 'creative identifier'),
    DemandOrigin: text('demand_origin', 'demand origin'),
    PlacementId: id('placement_id', 'placement identifier'),
    ContainerId: id('container_id', 'container identifier'),
    PublisherAccountId: id('publisher_account_id', 'publisher account identifier'),
    PublisherCompanyId: id('publisher_company_id', 'publisher company identifier'),
    DeviceOrProxy: text('device_or_proxy', 'device or proxy type'),
    Impressions: count('impressions', 'total number of impressions'),
    Clicks: count('clicks', 'total number of clicks'),
    Conversions: count('conversions', 'number of recorded conversions'),
    ConversionRevenue: money('conversion_revenue', 'revenue from conversions'),
    Spend: money('spend', 'total spend'),
  },
};

export const reports: readonly Report[] = [publisherReport, advertiserReport];
