import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakDownTax, isTaxInclusive, taxFromJson, taxToJson } from '../invoices/tax-breakdown.ts'
import { decideTaxDetails, type TaxDetails } from './tax-details.ts'
import { decideTaxRule, type TaxRule } from './tax-rule.ts'

/* Tax details of a customer, the rule that follows from them, and the resulting price. */

const business = { isBusiness: true } as const
const today = new Date('2026-11-22T12:00:00Z')

describe('tax ids', () => {
  test.each([
    ['AT', 'ATU12345678'],
    ['BE', 'BE0123456789'],
    ['BE', 'BE1123456789'],
    ['BG', 'BG123456789'],
    ['BG', 'BG1234567890'],
    ['HR', 'HR12345678901'],
    ['CY', 'CY12345678X'],
    ['CZ', 'CZ12345678'],
    ['CZ', 'CZ1234567890'],
    ['DK', 'DK12345678'],
    ['EE', 'EE123456789'],
    ['FI', 'FI12345678'],
    ['FR', 'FRXX123456789'],
    ['FR', 'FR12123456789'],
    ['DE', 'DE123456789'],
    ['GR', 'EL123456789'],
    ['HU', 'HU12345678'],
    ['IE', 'IE1234567W'],
    ['IE', 'IE1234567AI'],
    ['IT', 'IT12345678901'],
    ['LV', 'LV12345678901'],
    ['LT', 'LT123456789'],
    ['LT', 'LT123456789012'],
    ['LU', 'LU12345678'],
    ['MT', 'MT12345678'],
    ['NL', 'NL123456789B01'],
    ['PL', 'PL1234567890'],
    ['PT', 'PT123456789'],
    ['RO', 'RO12'],
    ['RO', 'RO1234567890'],
    ['SK', 'SK1234567890'],
    ['SI', 'SI12345678'],
    ['ES', 'ESX1234567X'],
    ['ES', 'ES112345671'],
    ['SE', 'SE123456789012'],
    ['GB', 'GB123456789'],
    ['GB', 'GB123456789012'],
    ['GB', 'GBGD123'],
    ['GB', 'GBHA123'],
    ['US', '12-3456789'],
    ['US', '123456789'],
    ['CH', 'CHE-123.456.789MWST'],
    ['CH', 'CHE123456789'],
    ['NO', '123456789MVA'],
    ['AU', '51824753556'],
    ['NZ', '12345678'],
    ['NZ', '123456789'],
  ])('in %s include %s', (country, taxId) => {
    expect(decideTaxDetails({ ...business, country, taxId }, undefined)).toMatchObject({
      kind: 'accept',
      details: { country, taxId },
    })
  })

  test.each([
    ['AT', 'AT12345678'],
    ['BE', 'BE2123456789'],
    ['BG', 'BG12345678901'],
    ['CY', 'CY123456789'],
    ['DE', 'DE12345678'],
    ['DE', '123456789'],
    ['FR', 'FRIX123456789'],
    ['FR', 'FRXO123456789'],
    ['GR', 'GR123456789'],
    ['IE', 'IE1234567X'],
    ['IE', 'IE1234567WJ'],
    ['LT', 'LT1234567890'],
    ['NL', 'NL123456789A01'],
    ['RO', 'RO1'],
    ['RO', 'RO12345678901'],
    ['ES', 'ES12345678'],
    ['SE', 'SE12345678901'],
    ['GB', 'GB1234567890'],
    ['GB', 'GBGD12'],
    ['US', 'US123456789'],
    ['US', '12--3456789'],
    ['DE', 'DE123456789 0'],
    ['DE', 'xDE123456789'],
    ['CH', 'CH123456789'],
    ['NO', '12345678'],
    ['AU', '123456789'],
    ['NZ', '1234567'],
  ])('in %s do not include %s', (country, taxId) => {
    expect(decideTaxDetails({ ...business, country, taxId }, undefined).kind).toBe('refuse')
  })

  test('are accepted with spaces and in lower case', () => {
    const entered = {
      ...business,
      country: ' se',
      taxId: ' se 5560 1257 9001 ',
      businessName: ' Ada ',
    }
    expect(decideTaxDetails(entered, undefined)).toEqual({
      kind: 'accept',
      details: {
        isBusiness: true,
        businessName: 'Ada',
        customerName: null,
        country: 'SE',
        taxId: 'SE556012579001',
        taxIdType: 'eu_vat',
        address: null,
      },
    })
  })

  test.each([
    ['DE', 'DE123456789', 'eu_vat'],
    ['GB', 'GB123456789', 'gb_vat'],
    ['US', '12-3456789', 'us_ein'],
    ['CH', 'CHE-123.456.789', 'ch_vat'],
    ['NO', '123456789', 'no_vat'],
    ['AU', '51824753556', 'au_abn'],
    ['NZ', '123456789', 'nz_gst'],
  ])('in %s have the type of their area', (country, taxId, taxIdType) => {
    expect(decideTaxDetails({ ...business, country, taxId }, undefined)).toMatchObject({
      details: { taxIdType },
    })
  })
})

describe('decideTaxDetails', () => {
  const known: TaxDetails = {
    isBusiness: true,
    businessName: 'Ada AB',
    customerName: 'Ada',
    country: 'SE',
    taxId: 'SE556012579001',
    taxIdType: 'eu_vat',
    address: 'Storgatan 1\n111 22 Stockholm',
  }

  test.each([
    [{ isBusiness: true }, 'country is required'],
    [{ isBusiness: true, country: '' }, 'country is required'],
    [{ isBusiness: true, country: 'JP' }, 'country JP is not supported'],
    [{ isBusiness: true, country: 'EL' }, 'country EL is not supported'],
    [{ isBusiness: false, customerCountry: 'JP' }, 'customerCountry JP is not supported'],
    [{ isBusiness: true, country: 'CA' }, 'region is required for CA'],
    [{ isBusiness: false, customerCountry: 'CA' }, 'region is required for CA'],
    [{ isBusiness: false, customerCountry: 'CA', region: 'XX' }, 'region XX is not one of CA'],
  ])('refuses %j: %s', (entered, reason) => {
    const [field] = reason.split(' ')
    const refusal = { kind: 'refuse', field, reason: expect.stringContaining(reason) as string }
    expect(decideTaxDetails(entered, known)).toEqual(refusal)
  })

  test('stores the region of Canada, and a state of the US if it is given', () => {
    const regionOf = (entered: object, before?: TaxDetails): unknown => {
      const decision = decideTaxDetails({ isBusiness: false, ...entered }, before)
      return decision.kind === 'accept' ? decision.details.region : decision.reason
    }
    const canadian = { ...known, country: 'CA', region: 'ON' }
    expect(regionOf({ customerCountry: 'ca', region: ' on ' })).toBe('ON')
    expect(regionOf({ customerCountry: 'DE', region: 'ON' })).toBeUndefined()
    expect(regionOf({}, canadian)).toBe('ON')
    expect(regionOf({ customerCountry: 'CA' }, canadian)).toBe('ON')
    expect(regionOf({ customerCountry: 'SE' }, canadian)).toBeUndefined()
    expect(regionOf({ isBusiness: true, country: 'CA', region: 'QC' }, canadian)).toBe('QC')
  })

  test('ignores business fields of a customer who is no business', () => {
    const entered = { isBusiness: false, country: 'JP', taxId: 'x', businessName: 'y' }
    expect(decideTaxDetails(entered, undefined)).toEqual({
      kind: 'accept',
      details: {
        isBusiness: false,
        businessName: null,
        customerName: null,
        country: null,
        taxId: null,
        taxIdType: null,
        address: null,
      },
    })
  })

  test('keeps earlier invoice details until they are removed', () => {
    const before = { ...known, address: 'Kungsgatan 1', email: 'bills@ada.example' }
    const entered = { isBusiness: true, country: 'SE' }
    expect(decideTaxDetails(entered, before)).toMatchObject({
      details: { customerName: 'Ada', address: 'Kungsgatan 1', email: 'bills@ada.example' },
    })
    const removed = decideTaxDetails(
      { ...entered, customerName: '', address: ' ', email: '' },
      before,
    )
    expect(removed).toMatchObject({ details: { customerName: null, address: null } })
    expect(removed).not.toHaveProperty('details.email')
  })

  test('keeps the earlier country and name, but not the tax id', () => {
    expect(decideTaxDetails({ isBusiness: false }, known)).toMatchObject({
      details: { country: 'SE', customerName: 'Ada', taxId: null },
    })
    expect(decideTaxDetails({ isBusiness: true, country: 'SE' }, known)).toMatchObject({
      details: { customerName: 'Ada', taxId: null, taxIdType: null },
    })
  })

  test.each([
    [undefined, known.address],
    [' Nygatan 2 ', 'Nygatan 2'],
    ['', null],
  ])('stores the address %j as %j', (address, kept) => {
    for (const isBusiness of [true, false]) {
      const entered = { isBusiness, country: 'SE', ...(address === undefined ? {} : { address }) }
      expect(decideTaxDetails(entered, known)).toMatchObject({ details: { address: kept } })
    }
  })
})

describe('decideTaxRule', () => {
  const person = (country: string | null) => ({ isBusiness: false, country, taxId: null })
  const business = (country: string, taxId: string | null) => ({
    isBusiness: true,
    country,
    taxId,
  })

  test.each([
    ['SE', person('SE'), 'standard', '250'],
    ['SE', person('FI'), 'standard', '255'],
    ['SE', person(null), 'standard', '250'],
    ['SE', business('SE', 'SE556012579001'), 'standard', '250'],
    ['SE', business('DE', 'DE123456789'), 'reverse_charge', '0'],
    ['SE', business('DE', null), 'standard', '190'],
    ['SE', business('US', '12-3456789'), 'none', '0'],
    ['SE', person('US'), 'none', '0'],
    ['SE', business('GB', 'GB123456789'), 'none', '0'],
    ['SE', person('GB'), 'not_collecting', '0'],
    ['GB', person('GB'), 'standard', '200'],
    ['GB', business('GB', 'GB123456789'), 'standard', '200'],
    ['GB', business('DE', 'DE123456789'), 'none', '0'],
    ['GB', person('DE'), 'not_collecting', '0'],
    ['US', person('US'), 'not_collecting', '0'],
    ['US', person('SE'), 'not_collecting', '0'],
    ['JP', person('SE'), 'not_collecting', '0'],
    ['CH', person('CH'), 'standard', '81'],
    ['CH', business('CH', 'CHE123456789'), 'standard', '81'],
    ['CH', person('SE'), 'not_collecting', '0'],
    ['CH', business('SE', 'SE556012579001'), 'none', '0'],
    ['SE', person('CH'), 'not_collecting', '0'],
    ['SE', business('NO', '123456789MVA'), 'none', '0'],
    ['AU', person('AU'), 'standard', '100'],
    ['AU', person('NZ'), 'not_collecting', '0'],
    ['CA', person('US'), 'none', '0'],
    [null, person('SE'), 'not_collecting', '0'],
  ] as const)('taxes %s to %j as %s at %s', (country, buyer, treatment, ratePerMille) => {
    const rule = decideTaxRule({ country, vatNumber: 'registered' }, buyer, today)
    expect(rule).toEqual({ treatment, ratePerMille, country: buyer.country ?? country })
  })

  // The standard rates as the states announced them, in percent.
  const standardRates = {
    ...{ AT: 20, BE: 21, BG: 20, HR: 25, CY: 19, CZ: 21, DK: 25, EE: 24, FI: 25.5, FR: 20, DE: 19 },
    ...{ GR: 24, HU: 27, IE: 23, IT: 22, LV: 21, LT: 21, LU: 17, MT: 18, NL: 21, PL: 23, PT: 23 },
    ...{ RO: 21, SK: 23, SI: 22, ES: 21, SE: 25, GB: 20 },
    ...{ CH: 8.1, NO: 25, AU: 10, NZ: 15 },
  }

  test.each(Object.entries(standardRates))(
    'applies the standard rate in %s of %d percent',
    (country, percent) => {
      const rule = decideTaxRule({ country, vatNumber: 'registered' }, person(country), today)
      expect(rule.ratePerMille).toBe(String(percent * 10))
    },
  )

  // GST, or HST where the province has joined it.
  const canadianRates = {
    ...{ AB: 5, BC: 5, MB: 5, NB: 15, NL: 15, NS: 14, NT: 5, NU: 5, ON: 13, PE: 15, QC: 5, SK: 5 },
    YT: 5,
  }

  test.each(Object.entries(canadianRates))(
    'applies the rate of the Canadian region %s of %d percent',
    (region, percent) => {
      const seller = { country: 'CA', vatNumber: 'registered' }
      const rule = decideTaxRule(seller, { ...person('CA'), region }, today)
      const ratePerMille = String(percent * 10)
      expect(rule).toEqual({ treatment: 'standard', ratePerMille, country: 'CA', region })
    },
  )

  test('applies the federal rate to a Canadian whose region is unknown', () => {
    const rule = decideTaxRule({ country: 'CA', vatNumber: 'registered' }, person(null), today)
    expect(rule).toEqual({ treatment: 'standard', ratePerMille: '50', country: 'CA' })
  })

  test.each([
    ['EE', '2023-12-31T23:59:59.999Z', '200'],
    ['EE', '2024-01-01T00:00:00Z', '220'],
    ['EE', '2025-06-30T23:59:59.999Z', '220'],
    ['EE', '2025-07-01T00:00:00Z', '240'],
    ['FI', '2024-08-31T23:59:59.999Z', '240'],
    ['FI', '2024-09-01T00:00:00Z', '255'],
    ['LU', '2023-12-31T23:59:59.999Z', '160'],
    ['LU', '2024-01-01T00:00:00Z', '170'],
    ['RO', '2025-07-31T23:59:59.999Z', '190'],
    ['RO', '2025-08-01T00:00:00Z', '210'],
    ['SK', '2024-12-31T23:59:59.999Z', '200'],
    ['SK', '2025-01-01T00:00:00Z', '230'],
  ])('applies in %s at %s the rate of that day', (country, at, ratePerMille) => {
    const seller = { country: 'SE', vatNumber: 'registered' }
    expect(decideTaxRule(seller, person(country), new Date(at))).toMatchObject({ ratePerMille })
  })

  test.each([
    ['CH', null, '2023-12-31T23:59:59.999Z', '77'],
    ['CH', null, '2024-01-01T00:00:00Z', '81'],
    ['CA', 'NS', '2025-03-31T23:59:59.999Z', '150'],
    ['CA', 'NS', '2025-04-01T00:00:00Z', '140'],
  ])(
    'applies to a seller in %s, region %s, at %s the rate of that day',
    (country, region, at, ratePerMille) => {
      const seller = { country, vatNumber: 'registered' }
      const rule = decideTaxRule(seller, { ...person(country), region }, new Date(at))
      expect(rule).toMatchObject({ ratePerMille })
    },
  )

  test('collects nothing for a seller who is not registered', () => {
    const rule = decideTaxRule({ country: 'SE', vatNumber: null }, person('SE'), today)
    expect(rule).toMatchObject({ treatment: 'not_collecting', ratePerMille: '0' })
  })
})

describe('breakDownTax', () => {
  const rule = (ratePerMille: string): TaxRule => ({
    treatment: 'standard',
    ratePerMille,
    country: 'SE',
  })
  const amounts = (price: bigint, rate: bigint, isInclusive: boolean) => {
    const { subtotalMinor, taxMinor, totalMinor } = breakDownTax(
      price,
      rule(rate.toString()),
      isInclusive,
    )
    return [subtotalMinor, taxMinor, totalMinor]
  }

  test.each([
    [1000n, 250n, false, [1000n, 250n, 1250n]],
    [1250n, 250n, true, [1000n, 250n, 1250n]],
    [1000n, 0n, false, [1000n, 0n, 1000n]],
    [1000n, 0n, true, [1000n, 0n, 1000n]],
    // 25.5 cents and 2.5 cents, rounded half away from zero.
    [100n, 255n, false, [100n, 26n, 126n]],
    [10n, 250n, false, [10n, 3n, 13n]],
    // 1900 / 1.19 = 1596.64
    [1900n, 190n, true, [1597n, 303n, 1900n]],
  ] as const)('splits %s at %s, inclusive %s', (price, rate, isInclusive, expected) => {
    expect(amounts(price, rate, isInclusive)).toEqual(expected)
  })

  test('sums to the total, with a tax within half a unit of the exact tax', () => {
    const inputs = [fc.bigInt(1n, 99_999_999n), fc.bigInt(0n, 300n), fc.boolean()] as const
    fc.assert(
      fc.property(...inputs, (price, rate, isInclusive) => {
        const tax = breakDownTax(price, rule(rate.toString()), isInclusive)
        expect(tax.subtotalMinor + tax.taxMinor).toBe(tax.totalMinor)
        expect(isInclusive ? tax.totalMinor : tax.subtotalMinor).toBe(price)
        // tax = price × rate / (1000, or 1000 + rate), multiplied by the divisor.
        const divisor = isInclusive ? 1000n + rate : 1000n
        const off = 2n * (tax.taxMinor * divisor - price * rate)
        expect(off > -divisor && off <= divisor).toBe(true)
        expect(taxFromJson(taxToJson(tax))).toEqual(tax)
      }),
    )
  })

  test.each([
    ['auto', 'USD', false],
    ['auto', 'CAD', false],
    ['auto', 'EUR', true],
    ['auto', 'JPY', true],
    ['inclusive', 'USD', true],
    ['exclusive', 'EUR', false],
  ] as const)('%s prices in %s are inclusive: %s', (behavior, currency, isInclusive) => {
    expect(isTaxInclusive(behavior, currency)).toBe(isInclusive)
  })
})
