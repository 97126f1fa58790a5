import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { listLines } from '@tollgate/domain/invoices/lines'
import type { AddOnBody } from '@tollgate/schemas/http/add-ons'
import type { ChangedPurchaseBody } from '@tollgate/schemas/http/purchases'
import { MigrationStack } from './plan-migration-stack.ts'

type AddOnAnswer = {
  readonly purchase: ChangedPurchaseBody
  readonly effectiveAt: string
  readonly invoiceRef?: string
  readonly payment?: string
  readonly code?: string
  readonly message?: string
}

/** A provider with plans and add-ons, whose customers bought a plan for June. */
export class AddOnShop {
  readonly stack: MigrationStack

  private constructor(stack: MigrationStack) {
    this.stack = stack
  }

  static async start(): Promise<AddOnShop> {
    return new AddOnShop(await MigrationStack.start())
  }

  get payments() {
    return this.stack.payments
  }

  async create(fields: object): Promise<string> {
    const path = `/v1/sdk/products/${this.payments.productRef}/add-ons`
    const { status, body } = await this.payments.call<AddOnBody>('POST', path, fields)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body.reference
  }

  set(purchaseRef: string, addOnRef: string, quantity: number, when?: string) {
    const path = `/v1/sdk/purchases/${purchaseRef}/add-ons/${addOnRef}`
    const body = { quantity, ...(when === undefined ? {} : { when }) }
    return this.payments.call<AddOnAnswer>('PUT', path, body)
  }

  remove(purchaseRef: string, addOnRef: string, when?: string) {
    const path = `/v1/sdk/purchases/${purchaseRef}/add-ons/${addOnRef}`
    const query = when === undefined ? '' : `?when=${when}`
    return this.payments.call<AddOnAnswer>('DELETE', path + query)
  }

  /** Returns kind and amount of the lines of each invoice after the first payment, newest first. */
  async linesOf(purchaseRef: string): Promise<(readonly [string, bigint])[][]> {
    const { sql } = this.stack.renewals
    const { providerId } = this.payments.tenant
    const invoices = await this.stack.renewals.invoicesOf(purchaseRef)
    const lines: InvoiceLine[][] = []
    for (const { reference } of invoices) lines.push(await listLines(sql, providerId, reference))
    return lines.map((each) =>
      each.map(({ inputs: { kind }, amountMinor }) => [kind, amountMinor] as const),
    )
  }

  /** Returns the limit check of the customer. */
  async check(customerRef: string) {
    const { productRef } = this.payments
    const request = { customerRef, productRef }
    type Limits = { readonly withinLimits: boolean; readonly remaining?: number }
    return (await this.payments.call<Limits>('POST', '/v1/sdk/limits', request)).body
  }
}
