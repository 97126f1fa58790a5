import type { FastifyBaseLogger } from 'fastify'
import { previewCancel } from '@tollgate/domain/previews/preview-cancel'
import type { PreviewedInvoice } from '@tollgate/domain/previews/price-invoices'
import { decideCancel, type CancelDecision } from '@tollgate/domain/purchases/decide-cancel'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Clock } from '@tollgate/platform/clock/clock'
import { refusalOf } from '../../access/refusal-of.ts'
import type { Previews } from '../../previews/previews.ts'
import type { Portal } from './portal.ts'

export type CancelPreviewParts = { readonly previews: Previews; readonly clock: Clock }

export type ShownCancelPreview = {
  readonly decision: CancelDecision
  readonly invoices: readonly PreviewedInvoice[]
}

/**
 * Returns what a cancellation would do, and the invoices that follow. While usage cannot be summed up, the customer can cancel without
 * seeing the amounts.
 */
export async function readCancelPreview(
  { previews, clock }: CancelPreviewParts,
  { caller, customer }: Portal,
  purchase: Purchase,
  log: FastifyBaseLogger,
): Promise<ShownCancelPreview> {
  try {
    return await previews.run(caller, async (parts, at): Promise<ShownCancelPreview> => {
      const preview = await previewCancel(parts, at, { purchase, customer })
      return preview.kind === 'refused' ? { decision: { kind: 'refuse' }, invoices: [] } : preview
    })
  } catch (error) {
    if (refusalOf(error as Error, undefined).statusCode !== 503) throw error
    log.warn({ err: error }, 'could not preview the last invoices of a purchase')
    return { decision: decideCancel(purchase, new Date(clock.now())), invoices: [] }
  }
}
