import { formTokenOf } from '../../../control-plane/src/pages/cookies.ts'
import type { PaymentStack } from './payment-stack.ts'

/** An open checkout or portal, with the cookie of its visitor. */
export type OpenPage = { readonly pathname: string; readonly cookie: string }

type PageAnswer = {
  readonly status: number
  readonly text: string
  readonly location: string
}

type Form = Readonly<Record<string, string>>

/** Reads the hosted pages of customers like a browser without scripts, and follows no redirect. */
export class HostedPages {
  readonly #payments: PaymentStack

  constructor(payments: PaymentStack) {
    this.#payments = payments
  }

  async openPortal(customerRef: string): Promise<OpenPage> {
    const path = '/v1/sdk/customers/customer-sessions'
    const id = await this.#createSession(path, { customerRef })
    return this.#open('/customer/manage', { method: 'POST', body: new URLSearchParams({ id }) })
  }

  async openCheckout(request: object): Promise<OpenPage> {
    const id = await this.#createSession('/v1/sdk/checkout-sessions', request)
    return this.#open(`/customer/checkout?id=${id}`)
  }

  /** Reads a page, or sends its form. `path` is below the open page, or the location of a redirect. */
  async visit({ pathname, cookie }: OpenPage, path = '', form?: Form): Promise<PageAnswer> {
    const formToken = formTokenOf(cookie.slice(cookie.indexOf('.') + 1))
    const posted =
      form === undefined
        ? {}
        : { method: 'POST', body: new URLSearchParams({ ...form, formToken }) }
    const init = { ...posted, headers: { cookie }, redirect: 'manual' } as const
    const url = path.startsWith('/customer/') ? path : pathname + path
    const answer = await this.#payments.stack.fetch(url, init)
    const location = answer.headers.get('location') ?? ''
    return { status: answer.status, text: await answer.text(), location }
  }

  async #createSession(path: string, request: object): Promise<string> {
    return (await this.#payments.call<{ sessionId: string }>('POST', path, request)).body.sessionId
  }

  async #open(link: string, init: RequestInit = {}): Promise<OpenPage> {
    const opened = await this.#payments.stack.fetch(link, { ...init, redirect: 'manual' })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { pathname } = new URL(opened.headers.get('location') ?? '', 'http://127.0.0.1')
    return { pathname, cookie }
  }
}
