import type { Queryable } from '@tollgate/platform/database/database'
import { changedColumns, fromColumns } from '../postgres/field-columns.ts'
import type { SuspendOnDispute } from '@tollgate/schemas/http/merchants'

/** Details of a provider that customers see, and settings for its customers. Details that are null are not shown. */
export type Merchant = {
  /** The name shown to customers; null for the provider's own name. */
  readonly displayName: string | null
  readonly legalName: string | null
  readonly supportEmail: string | null
  readonly supportUrl: string | null
  readonly termsUrl: string | null
  readonly privacyUrl: string | null
  /** Color of buttons and links, as `#rrggbb` in lower case; null for the default color. */
  readonly accentColor: string | null
  /** Postal address in lines separated by line feeds, without the country. */
  readonly address: string | null
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string | null
  readonly companyNumber: string | null
  readonly taxId: string | null
  readonly vatNumber: string | null
  readonly statementDescriptor: string | null
  /** ISO 4217 codes, in addition to the provider's default currency. */
  readonly topupCurrencies: readonly string[]
  /** Balance at which a wallet counts as low, in credits; null for the price of 10 units, or 1,000 if there is none. */
  readonly lowBalanceCredits: bigint | null
  /** Which disputes suspend what their payment paid for; null for lost disputes only. */
  readonly suspendOnDispute: SuspendOnDispute | null
  /** Hosts that stored links can have, as `normalLinkHost` returns them; null for any host. */
  readonly allowedLinkHosts: readonly string[] | null
  /** Whether an invoice is issued for a period that costs nothing; null for no. */
  readonly issueZeroInvoices: boolean | null
  /** Country of customers without tax details, ISO 3166-1 alpha-2; null if they are not taxed. */
  readonly defaultTaxCountry: string | null
  /** Region of these customers, ISO 3166-2 without the country; null where the country has one rate. */
  readonly defaultTaxRegion: string | null
  /** Whether prices include their tax if neither the plan nor the product says so; null for the custom of the currency. */
  readonly defaultTaxBehavior: 'inclusive' | 'exclusive' | null
}

const unknownMerchant: Merchant = {
  displayName: null,
  legalName: null,
  supportEmail: null,
  supportUrl: null,
  termsUrl: null,
  privacyUrl: null,
  accentColor: null,
  address: null,
  country: null,
  companyNumber: null,
  taxId: null,
  vatNumber: null,
  statementDescriptor: null,
  topupCurrencies: [],
  lowBalanceCredits: null,
  suspendOnDispute: null,
  allowedLinkHosts: null,
  issueZeroInvoices: null,
  defaultTaxCountry: null,
  defaultTaxRegion: null,
  defaultTaxBehavior: null,
}

export type MerchantChange = { readonly [Field in keyof Merchant]?: Merchant[Field] | undefined }

const columns = {
  displayName: 'display_name',
  legalName: 'legal_name',
  supportEmail: 'support_email',
  supportUrl: 'support_url',
  termsUrl: 'terms_url',
  privacyUrl: 'privacy_url',
  accentColor: 'accent_color',
  address: 'address',
  country: 'country',
  companyNumber: 'company_number',
  taxId: 'tax_id',
  vatNumber: 'vat_number',
  statementDescriptor: 'statement_descriptor',
  topupCurrencies: 'topup_currencies',
  lowBalanceCredits: 'low_balance_credits',
  suspendOnDispute: 'suspend_on_dispute',
  allowedLinkHosts: 'allowed_link_hosts',
  issueZeroInvoices: 'issue_zero_invoices',
  defaultTaxCountry: 'default_tax_country',
  defaultTaxRegion: 'default_tax_region',
  defaultTaxBehavior: 'default_tax_behavior',
} as const satisfies Record<keyof Merchant, string>

/** Changes only the given fields, in one statement. Concurrent changes of different fields do not overwrite each other. */
export async function changeMerchant(
  sql: Queryable,
  providerId: string,
  change: MerchantChange,
  now: Date,
): Promise<void> {
  const changed = { ...changedColumns<Merchant>(columns, change), updated_at: now }
  await sql`
    insert into merchants ${sql({ ...changed, provider_id: providerId })}
    on conflict (provider_id) do update set ${sql(changed)}`
}

export async function findMerchant(sql: Queryable, providerId: string): Promise<Merchant> {
  const [row] = await sql`select * from merchants where provider_id = ${providerId}`
  return row === undefined ? unknownMerchant : fromColumns<Merchant>(columns, row)
}
