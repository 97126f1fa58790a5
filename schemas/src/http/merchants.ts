import { z } from 'zod'
import {
  addressText,
  currencyCode,
  emailText,
  oneLineName,
  shortText,
  webAddress,
} from './fields.ts'
import { grantCreditsMax, listItemsMax } from '../limits.ts'
import { linkHosts } from './link-hosts.ts'
import { strictBody } from './strict-body.ts'

/* Schemas of `GET /v1/sdk/merchant` and `PATCH /v1/ui/merchant`. */

/** Which dispute of a payment suspends the purchase: one that is lost, or each one from the day it is opened. */
export const suspendOnDispute = ['lost', 'opened'] as const
export type SuspendOnDispute = (typeof suspendOnDispute)[number]

/** Whether prices include their tax. */
export const defaultTaxBehaviors = ['inclusive', 'exclusive'] as const

/** Some values appear under two names, because older and newer clients read different ones. */
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
  /** Colour of buttons and links on pages and invoices. Missing for the default colour. */
  accentColor: z.string().optional(),
  statementDescriptor: z.string().optional(),
  logoUrl: z.string().optional(),
  iconUrl: z.string().optional(),
  lowBalanceCredits: z.number().optional(),
  suspendOnDispute: z.enum(suspendOnDispute).optional(),
  /** Missing if links may lead to any host. */
  allowedLinkHosts: z.array(z.string()).optional(),
  issueZeroInvoices: z.boolean().optional(),
  /** Missing if customers without tax details are not taxed. */
  defaultTaxCountry: z.string().optional(),
  defaultTaxRegion: z.string().optional(),
  defaultTaxBehavior: z.enum(defaultTaxBehaviors).optional(),
})

export type MerchantBody = z.infer<typeof merchantSchema>

const countryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, { error: 'Expected an ISO 3166-1 alpha-2 code' })

const accentColor = z
  .string()
  .regex(/^#[0-9A-Fa-f]{6}$/, { error: 'Expected a colour as #rrggbb, such as #2f4fd0' })

/** Only the given fields change, and null resets a field. Unknown fields are refused. */
export const merchantUpdateSchema = strictBody({
  /** The name shown to customers in this environment. Null: the name that the provider was created with. */
  name: oneLineName.nullish(),
  /** The same as `name`. If both are given, they must be equal. */
  displayName: oneLineName.nullish(),
  legalName: shortText.nullish(),
  supportEmail: emailText.nullish(),
  supportUrl: webAddress.nullish(),
  termsUrl: webAddress.nullish(),
  privacyUrl: webAddress.nullish(),
  country: countryCode.nullish(),
  /** Postal address that invoices print, without the country. Issued invoices keep theirs. */
  address: addressText.nullish(),
  /** `#rrggbb`. Text and links in any colour stay readable in light and dark mode. */
  accentColor: accentColor.nullish(),
  companyNumber: shortText.nullish(),
  taxId: shortText.nullish(),
  vatNumber: shortText.nullish(),
  statementDescriptor: z.string().max(22).nullish(),
  supportedTopupCurrencies: z.array(currencyCode).max(listItemsMax).optional(),
  /** Balance below which customer.credit.low_balance is sent. Null: the price of 10 units, or 1,000 credits if no plan sets a price per unit. */
  lowBalanceCredits: z.int().min(0).max(grantCreditsMax).nullish(),
  /** With `opened`, access is restored when the dispute is won. Null: `lost`. */
  suspendOnDispute: z.enum(suspendOnDispute).nullish(),
  /** Hosts that `returnUrl` and every other stored link may lead to, such as `shop.example` or `*.shop.example`. Null: any host. */
  allowedLinkHosts: linkHosts.nullish(),
  /** If true, a period that costs nothing gets a numbered invoice. Null: it gets none. */
  issueZeroInvoices: z.boolean().nullish(),
  /**
   * Country in which a customer without tax details, or whose country is unknown, is taxed as a consumer. Null: a customer without
   * tax details is not taxed.
   */
  defaultTaxCountry: countryCode.nullish(),
  /** Region of that country, such as ON for Ontario. Only for countries whose regions have rates of their own. */
  defaultTaxRegion: z.string().max(3).nullish(),
  /** For plans and products whose `taxBehavior` is `auto` or missing. Null: exclusive in USD and CAD, and inclusive otherwise. */
  defaultTaxBehavior: z.enum(defaultTaxBehaviors).nullish(),
}).refine(hasOneName, {
  error: '`name` and `displayName` differ. Send one of them',
  path: ['displayName'],
})

export type MerchantUpdate = z.infer<typeof merchantUpdateSchema>

function hasOneName({
  name,
  displayName,
}: {
  name?: string | null | undefined
  displayName?: string | null | undefined
}): boolean {
  return name === undefined || displayName === undefined || name === displayName
}

/** Schema of `GET /v1/sdk/platform-config`, which contains only public values for browsers. */
export const platformConfigSchema = z.object({ stripePublishableKey: z.string().optional() })

export const assetAddressSchema = z.object({ url: z.string() })
