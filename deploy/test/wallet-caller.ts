import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import type { Stack } from './stack.ts'

export const creditsPerUnit = 100

export type CreditDebit = {
  readonly debited: boolean
  readonly reason?: string
  readonly amount?: number
  readonly unitsRemaining?: number
}

/** Sends a request until it is answered. Resolves to the body of a 200. */
export type Send = <Body>(method: string, path: string, body?: unknown) => Promise<Body>

/** A provider with a product that wallets pay for, and the requests of its backend. */
export class WalletCaller {
  readonly productRef: string
  readonly planRef: string
  readonly #stack: Stack
  readonly #client: TollgateClient
  readonly #send: Send

  private constructor(
    stack: Stack,
    client: TollgateClient,
    send: Send,
    refs: { readonly productRef: string; readonly planRef: string },
  ) {
    this.#stack = stack
    this.#client = client
    this.#send = send
    this.productRef = refs.productRef
    this.planRef = refs.planRef
  }

  static async open(stack: Stack, client: TollgateClient, send: Send): Promise<WalletCaller> {
    const { reference: productRef } = await client.createProduct({ name: 'Paid by use' })
    const plan = { name: 'By use', type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit }
    const { reference: planRef } = await client.createPlan(productRef, plan)
    return new WalletCaller(stack, client, send, { productRef, planRef })
  }

  /** Creates a customer who can pay. `externalRef` is the customer's own reference. */
  async createPayer(externalRef?: string): Promise<string> {
    const customerRef = await createCustomer(this.#client, externalRef)
    await this.activate(customerRef)
    return customerRef
  }

  activate(customerRef: string): Promise<object> {
    const { productRef, planRef } = this
    return this.#send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  }

  grant(customerRef: string, credits: number, more: object = {}): Promise<{ balance: number }> {
    return this.#send('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits, ...more })
  }

  async balanceOf(customerRef: string): Promise<number> {
    const path = `/v1/sdk/customers/${customerRef}/balance`
    return (await this.#send<{ credits: number }>('GET', path)).credits
  }

  /** Returns the balance of the ledger. */
  async ledgerOf(customerRef: string): Promise<number> {
    const [wallet] = await this.#stack.database.in('sandbox')<{ balance: string }[]>`
      select balance_micros as balance from wallets where customer_ref = ${customerRef}`
    return Number(wallet?.balance ?? 0) / 1_000_000
  }
}
