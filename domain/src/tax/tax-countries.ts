import type { taxIdTypes as taxIdTypeNames } from '@tollgate/schemas/http/tax-details'

/** Territory of one tax, in which a registration counts. */
export type TaxArea = 'eu' | 'gb' | 'us' | 'ch' | 'no' | 'au' | 'nz' | 'ca'

export type TaxIdType = (typeof taxIdTypeNames)[number]

export type TaxCountry = {
  readonly area: TaxArea
  /** Name of the tax on invoices. */
  readonly taxName: 'VAT' | 'GST' | 'GST/HST'
  /** Rates, newest first. The last one has no start date. Sales taxes of the US are not supported. */
  readonly rates: readonly TaxRate[]
  /** Rates of regions with a rate of their own, by ISO 3166-2 code without the country. Absent if there are none. */
  readonly regions?: ReadonlyMap<string, readonly TaxRate[]>
  /** Other regions, by the same codes. They are optional and have no rates here. A tax service of the provider gets them. */
  readonly otherRegions?: ReadonlySet<string>
  /** Pattern of a tax id without spaces, in upper case. */
  readonly taxId: RegExp
}

/** A standard rate. */
export type TaxRate = {
  /** Rate in tenths of a percent. */
  readonly perMille: bigint
  /** First day of the rate, in UTC; null for a rate that started before anything was billed. */
  readonly from: Date | null
}

/** Type of tax id that businesses of the area have. */
export const taxIdTypes: Readonly<Record<TaxArea, TaxIdType>> = {
  eu: 'eu_vat',
  gb: 'gb_vat',
  us: 'us_ein',
  ch: 'ch_vat',
  no: 'no_vat',
  au: 'au_abn',
  nz: 'nz_gst',
  ca: 'ca_gst_hst',
}

/** The states of the US, the District of Columbia and the territories. */
const americanRegions: ReadonlySet<string> = new Set(
  (
    'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN ' +
    'TX UT VT VA WA WV WI WY DC AS GU MP PR VI'
  ).split(' '),
)

/**
 * Provinces and territories of Canada. Where GST and provincial tax are one, HST, the rate is that of both. The sales taxes of the
 * other provinces, such as QST, have registrations of their own and are not supported.
 */
const canadianRegions = new Map<string, readonly TaxRate[]>([
  ...['AB', 'BC', 'MB', 'NT', 'NU', 'QC', 'SK', 'YT'].map((region): [string, TaxRate[]] => [
    region,
    [always(50n)],
  ]),
  ...['NB', 'NL', 'PE'].map((region): [string, TaxRate[]] => [region, [always(150n)]]),
  ['NS', [since('2025-04-01', 140n), always(150n)]],
  ['ON', [always(130n)]],
])

/** Countries that customers can choose, by ISO 3166-1 alpha-2 code, with their standard rates since 2023. */
const taxCountries: ReadonlyMap<string, TaxCountry> = new Map([
  ['AT', eu(/^ATU\d{8}$/, always(200n))],
  ['BE', eu(/^BE[01]\d{9}$/, always(210n))],
  ['BG', eu(/^BG\d{9,10}$/, always(200n))],
  ['HR', eu(/^HR\d{11}$/, always(250n))],
  ['CY', eu(/^CY\d{8}[A-Z]$/, always(190n))],
  ['CZ', eu(/^CZ\d{8,10}$/, always(210n))],
  ['DK', eu(/^DK\d{8}$/, always(250n))],
  ['EE', eu(/^EE\d{9}$/, since('2025-07-01', 240n), since('2024-01-01', 220n), always(200n))],
  ['FI', eu(/^FI\d{8}$/, since('2024-09-01', 255n), always(240n))],
  ['FR', eu(/^FR[A-HJ-NP-Z0-9]{2}\d{9}$/, always(200n))],
  ['DE', eu(/^DE\d{9}$/, always(190n))],
  ['GR', eu(/^EL\d{9}$/, always(240n))],
  ['HU', eu(/^HU\d{8}$/, always(270n))],
  ['IE', eu(/^IE\d{7}[A-W][A-I]?$/, always(230n))],
  ['IT', eu(/^IT\d{11}$/, always(220n))],
  ['LV', eu(/^LV\d{11}$/, always(210n))],
  ['LT', eu(/^LT(\d{9}|\d{12})$/, always(210n))],
  ['LU', eu(/^LU\d{8}$/, since('2024-01-01', 170n), always(160n))],
  ['MT', eu(/^MT\d{8}$/, always(180n))],
  ['NL', eu(/^NL\d{9}B\d{2}$/, always(210n))],
  ['PL', eu(/^PL\d{10}$/, always(230n))],
  ['PT', eu(/^PT\d{9}$/, always(230n))],
  ['RO', eu(/^RO\d{2,10}$/, since('2025-08-01', 210n), always(190n))],
  ['SK', eu(/^SK\d{10}$/, since('2025-01-01', 230n), always(200n))],
  ['SI', eu(/^SI\d{8}$/, always(220n))],
  ['ES', eu(/^ES[A-Z0-9]\d{7}[A-Z0-9]$/, always(210n))],
  ['SE', eu(/^SE\d{12}$/, always(250n))],
  ['GB', vat('gb', /^GB(\d{9}|\d{12}|(GD|HA)\d{3})$/, always(200n))],
  ['US', { ...vat('us', /^\d{2}-?\d{7}$/, always(0n)), otherRegions: americanRegions }],
  [
    'CH',
    vat('ch', /^CHE-?\d{3}\.?\d{3}\.?\d{3}(MWST|TVA|IVA)?$/, since('2024-01-01', 81n), always(77n)),
  ],
  ['NO', vat('no', /^\d{9}(MVA)?$/, always(250n))],
  ['AU', { ...vat('au', /^\d{11}$/, always(100n)), taxName: 'GST' }],
  ['NZ', { ...vat('nz', /^\d{8,9}$/, always(150n)), taxName: 'GST' }],
  [
    'CA',
    {
      ...vat('ca', /^\d{9}RT\d{4}$/, always(50n)),
      taxName: 'GST/HST',
      regions: canadianRegions,
    },
  ],
])

/** ISO 3166-1 alpha-2 codes. */
export const taxCountryCodes: readonly string[] = [...taxCountries.keys()]

export function findTaxCountry(code: string): TaxCountry | undefined {
  return taxCountries.get(code)
}

/** Returns the name of the tax of a country. A country that is not known has VAT. */
export function taxNameIn(country: string | null): TaxCountry['taxName'] {
  return (country === null ? undefined : findTaxCountry(country)?.taxName) ?? 'VAT'
}

/** Returns where the rate applies: `FI`, `CA-ON`, or nothing if the country is unknown. */
export function taxPlace({
  country,
  region,
}: {
  readonly country: string | null
  readonly region?: string
}): string {
  if (country === null) return ''
  return region === undefined ? country : `${country}-${region}`
}

/** Returns the country and the region of a place such as `CA-ON`: the inverse of `taxPlace`. The text of a form may name neither. */
export function partsOfPlace(place: string): {
  readonly country: string
  readonly region: string | undefined
} {
  const [country = '', region] = place.split('-')
  return { country, region }
}

/** Returns the rate of a sale at that instant, in tenths of a percent. Without a region it is that of the whole country. */
export function taxRateAt(country: TaxCountry, region: string | null, at: Date): bigint {
  const rates = (region === null ? undefined : country.regions?.get(region)) ?? country.rates
  const rate = rates.find(({ from }) => from === null || from <= at)
  if (rate === undefined) throw new Error('the oldest tax rate of the country has a start date')
  return rate.perMille
}

function eu(taxId: RegExp, ...rates: readonly TaxRate[]): TaxCountry {
  return vat('eu', taxId, ...rates)
}

function vat(area: TaxArea, taxId: RegExp, ...rates: readonly TaxRate[]): TaxCountry {
  return { area, taxName: 'VAT', rates, taxId }
}

function since(day: string, perMille: bigint): TaxRate {
  return { perMille, from: new Date(`${day}T00:00:00Z`) }
}

function always(perMille: bigint): TaxRate {
  return { perMille, from: null }
}
