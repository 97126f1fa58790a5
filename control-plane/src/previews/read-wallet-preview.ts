import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { isPrePaid } from '@tollgate/domain/plans/plan'
import { previewPrice, previewTotal } from '@tollgate/domain/pricing/preview-price'
import type { PreviewedUsage } from '@tollgate/domain/pricing/preview-price'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { InvoicePreviewBody } from '@tollgate/schemas/http/previews'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { definedFields } from '../domain/defined-fields.ts'
import type { Wallets } from '../wallets/wallets.ts'

/** Returns the wallet that pays for usage of the purchase, and what the usage would cost. Undefined if invoices charge the usage. */
export async function readWalletPreview(
  { wallets, database }: ReadParts & { readonly wallets: Wallets },
  caller: Caller,
  { customerRef, planSnapshot: plan, currency }: Purchase,
  usage: readonly PreviewedUsage[] | undefined,
): Promise<InvoicePreviewBody['wallet']> {
  if (plan === null || !isPrePaid(plan)) return undefined
  const micros = await wallets.read({ ...caller, customerRef })
  const rate = await read({ database }, caller, (sql) =>
    findExchangeRate(sql, caller.providerId, currency),
  )
  const usageCost =
    usage === undefined || rate === undefined
      ? undefined
      : previewTotal(previewPrice(plan, usage, { currency, unitsPerDollar: rate.unitsPerDollar }))
  return {
    creditBalance: decimalFromMicros(micros),
    ...definedFields({ usageCost: usageCost === undefined ? undefined : Number(usageCost) }),
  }
}
