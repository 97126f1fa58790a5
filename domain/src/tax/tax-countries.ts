export type TaxArea = 'eu' | 'gb' | 'us'

export type TaxIdType = 'eu_vat' | 'gb_vat' | 'us_ein'

export type TaxCountry = {
  readonly area: TaxArea
  /** Of the standard rate of VAT, in tenths of a percent. Sales taxes of the US are not known here. */
  readonly ratePerMille: bigint
  /** Of a tax id without spaces, in upper case. */
  readonly taxId: RegExp
}

/** What businesses of the area are known by. */
export const taxIdTypes: Readonly<Record<TaxArea, TaxIdType>> = {
  eu: 'eu_vat',
  gb: 'gb_vat',
  us: 'us_ein',
}

/** By ISO 3166-1 alpha-2: where customers may say that they are. Standard rates as of January 2026. */
const taxCountries: ReadonlyMap<string, TaxCountry> = new Map([
  ['AT', eu(200n, /^ATU\d{8}$/)],
  ['BE', eu(210n, /^BE[01]\d{9}$/)],
  ['BG', eu(200n, /^BG\d{9,10}$/)],
  ['HR', eu(250n, /^HR\d{11}$/)],
  ['CY', eu(190n, /^CY\d{8}[A-Z]$/)],
  ['CZ', eu(210n, /^CZ\d{8,10}$/)],
  ['DK', eu(250n, /^DK\d{8}$/)],
  ['EE', eu(240n, /^EE\d{9}$/)],
  ['FI', eu(255n, /^FI\d{8}$/)],
  ['FR', eu(200n, /^FR[A-HJ-NP-Z0-9]{2}\d{9}$/)],
  ['DE', eu(190n, /^DE\d{9}$/)],
  ['GR', eu(240n, /^EL\d{9}$/)],
  ['HU', eu(270n, /^HU\d{8}$/)],
  ['IE', eu(230n, /^IE\d{7}[A-W][A-I]?$/)],
  ['IT', eu(220n, /^IT\d{11}$/)],
  ['LV', eu(210n, /^LV\d{11}$/)],
  ['LT', eu(210n, /^LT(\d{9}|\d{12})$/)],
  ['LU', eu(170n, /^LU\d{8}$/)],
  ['MT', eu(180n, /^MT\d{8}$/)],
  ['NL', eu(210n, /^NL\d{9}B\d{2}$/)],
  ['PL', eu(230n, /^PL\d{10}$/)],
  ['PT', eu(230n, /^PT\d{9}$/)],
  ['RO', eu(210n, /^RO\d{2,10}$/)],
  ['SK', eu(230n, /^SK\d{10}$/)],
  ['SI', eu(220n, /^SI\d{8}$/)],
  ['ES', eu(210n, /^ES[A-Z0-9]\d{7}[A-Z0-9]$/)],
  ['SE', eu(250n, /^SE\d{12}$/)],
  ['GB', { area: 'gb', ratePerMille: 200n, taxId: /^GB(\d{9}|\d{12}|(GD|HA)\d{3})$/ }],
  ['US', { area: 'us', ratePerMille: 0n, taxId: /^\d{2}-?\d{7}$/ }],
])

export function findTaxCountry(code: string): TaxCountry | undefined {
  return taxCountries.get(code)
}

function eu(ratePerMille: bigint, taxId: RegExp): TaxCountry {
  return { area: 'eu', ratePerMille, taxId }
}
