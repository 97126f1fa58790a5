export type TaxArea = 'eu' | 'gb' | 'us'

export type TaxIdType = 'eu_vat' | 'gb_vat' | 'us_ein'

export type TaxCountry = {
  readonly area: TaxArea
  /** Rates, newest first. The last one has no start date. Sales taxes of the US are not supported. */
  readonly rates: readonly TaxRate[]
  /** Pattern of a tax id without spaces, in upper case. */
  readonly taxId: RegExp
}

/** A standard rate of VAT. */
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
}

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
  ['GB', { area: 'gb', rates: [always(200n)], taxId: /^GB(\d{9}|\d{12}|(GD|HA)\d{3})$/ }],
  ['US', { area: 'us', rates: [always(0n)], taxId: /^\d{2}-?\d{7}$/ }],
])

/** ISO 3166-1 alpha-2 codes. */
export const taxCountryCodes: readonly string[] = [...taxCountries.keys()]

export function findTaxCountry(code: string): TaxCountry | undefined {
  return taxCountries.get(code)
}

/** Returns the rate of a sale at that instant, in tenths of a percent. */
export function taxRateAt({ rates }: TaxCountry, at: Date): bigint {
  const rate = rates.find(({ from }) => from === null || from <= at)
  if (rate === undefined) throw new Error('the oldest tax rate of the country has a start date')
  return rate.perMille
}

function eu(taxId: RegExp, ...rates: readonly TaxRate[]): TaxCountry {
  return { area: 'eu', rates, taxId }
}

function since(day: string, perMille: bigint): TaxRate {
  return { perMille, from: new Date(`${day}T00:00:00Z`) }
}

function always(perMille: bigint): TaxRate {
  return { perMille, from: null }
}
