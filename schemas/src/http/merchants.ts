import { z } from 'zod'
import { addressText, currencyCode, emailText, shortText, webAddress } from './fields.ts'
import { grantCreditsMax, listItemsMax } from '../limits.ts'
import { linkHosts } from './link-hosts.ts'
import { strictBody } from './strict-body.ts'

/* `GET /v1/sdk/merchant` and `PATCH /v1/ui/merchant`. */

/** Which dispute of a payment suspends what it paid for: one that is lost, or each one from the day it is opened. */
export const suspendOnDispute = ['lost', 'opened'] as const
export type SuspendOnDispute = (typeof suspendOnDispute)[number]

/** Two sets of names for the same: clients of different age read different ones. */
export const merchantSchema = z.object({
  name: z.string(),
  displayName: z.string(),
  legalName: z.string(),
  supportContact: z.string().optional(),
  supportEmail: z.string().optional(),
  supportUrl: z.string().optional(),
  termsUrl: z.string().optional(),
  privacyUrl: z.string().optional(),
  country: z.string().optional(),
  companyNumber: z.string().optional(),
  taxId: z.string().optional(),
  vatNumber: z.string().optional(),
  defaultCurrency: z.string(),
  supportedTopupCurrencies: z.array(z.string()),
  /** Postal address that invoices print: lines separated by line feeds, without the country. */
  address: z.string().optional(),
  /** Colour of buttons and links on pages and invoices. Missing: the default one. */
  accentColor: z.string().optional(),
  statementDescriptor: z.string().optional(),
  logoUrl: z.string().optional(),
  iconUrl: z.string().optional(),
  lowBalanceCredits: z.number().optional(),
  suspendOnDispute: z.enum(suspendOnDispute).optional(),
  /** Missing: links may lead to any host. */
  allowedLinkHosts: z.array(z.string()).optional(),
  issueZeroInvoices: z.boolean().optional(),
})

export type MerchantBody = z.infer<typeof merchantSchema>

/** It stands in pages and in mails, also in their subject. */
const displayName = shortText
  .refine((name) => name.trim() !== '', { error: 'The name must not be empty' })
  .refine((name) => !/[\p{Cc}\u2028\u2029]/u.test(name), {
    error: 'The name must be one line without control characters',
  })

const accentColor = z
  .string()
  .regex(/^#[0-9A-Fa-f]{6}$/, { error: 'Expected a colour as #rrggbb, such as #2f4fd0' })

/** Only supplied fields change; null takes a value back. A field with another name is refused. */
export const merchantUpdateSchema = strictBody({
  /** The name shown to customers in this environment; null: the name that the provider was created with. */
  name: displayName.nullish(),
  /** The same as `name`. If both are given, they must be equal. */
  displayName: displayName.nullish(),
  legalName: shortText.nullish(),
  supportEmail: emailText.nullish(),
  supportUrl: webAddress.nullish(),
  termsUrl: webAddress.nullish(),
  privacyUrl: webAddress.nullish(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, { error: 'Expected an ISO 3166-1 alpha-2 code' })
    .nullish(),
  /** Postal address that invoices print, without the country. Issued invoices keep theirs. */
  address: addressText.nullish(),
  /** `#rrggbb`; text and links in it stay readable in light and dark mode, whatever the colour. */
  accentColor: accentColor.nullish(),
  companyNumber: shortText.nullish(),
  taxId: shortText.nullish(),
  vatNumber: shortText.nullish(),
  statementDescriptor: z.string().max(22).nullish(),
  supportedTopupCurrencies: z.array(currencyCode).max(listItemsMax).optional(),
  /** Where customer.credit.low_balance is told; null: at ten units' worth, or 1,000. */
  lowBalanceCredits: z.int().min(0).max(grantCreditsMax).nullish(),
  /** `opened` gives access back when the dispute is won; null: `lost`. */
  suspendOnDispute: z.enum(suspendOnDispute).nullish(),
  /** Hosts that `returnUrl` and every other stored link may lead to, such as `shop.example` or `*.shop.example`; null: any. */
  allowedLinkHosts: linkHosts.nullish(),
  /** Whether a period that costs nothing has an invoice, with a number; null: it has none. */
  issueZeroInvoices: z.boolean().nullish(),
}).refine(hasOneName, {
  error: '`name` and `displayName` differ. Send one of them',
  path: ['displayName'],
})

function hasOneName({
  name,
  displayName,
}: {
  name?: string | null | undefined
  displayName?: string | null | undefined
}): boolean {
  return name === undefined || displayName === undefined || name === displayName
}

/** `GET /v1/sdk/platform-config`: what browsers need and may know. */
export const platformConfigSchema = z.object({ stripePublishableKey: z.string().optional() })

export const assetAddressSchema = z.object({ url: z.string() })
