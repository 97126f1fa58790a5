import type { ClockStack } from '../test-clocks/clock-stack.ts'

/** A customer at the portal, with a client that keeps cookies and has no scripts. */
export class PortalVisitor {
  readonly #clocks: ClockStack
  readonly #portal: string
  readonly #cookie: string

  private constructor(clocks: ClockStack, portal: string, cookie: string) {
    this.#clocks = clocks
    this.#portal = portal
    this.#cookie = cookie
  }

  /** Opens a portal link that the provider creates for the customer. */
  static async open(clocks: ClockStack, customerRef: string): Promise<PortalVisitor> {
    const { baseUrl } = clocks.stack
    const { sessionId } = await clocks.post<{ sessionId: string }>(
      '/v1/sdk/customers/customer-sessions',
      { customerRef },
    )
    const answer = await fetch(`${baseUrl}/customer/manage`, {
      method: 'POST',
      body: new URLSearchParams({ id: sessionId }),
      redirect: 'manual',
    })
    const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
    const portal = new URL(answer.headers.get('location')!, baseUrl).href
    return new PortalVisitor(clocks, portal, cookie)
  }

  /** Enters a card that replaces the saved one. */
  async enterCard(card: string): Promise<void> {
    const page = await this.#read('/payment')
    const field = (name: string): string =>
      new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? ''
    const answer = await fetch(`${this.#portal}/payment/card`, {
      method: 'POST',
      headers: { cookie: this.#cookie },
      body: new URLSearchParams({ formToken: field('formToken'), attempt: field('attempt') }),
      redirect: 'manual',
    })
    const entry = new URL(answer.headers.get('location') ?? '', this.#portal)
    const setupIntentId = entry.pathname.split('/').at(-1)!
    const returnUrl = `${entry.href}/done`
    const confirmed = await this.#clocks.stripe(`setup_intents/${setupIntentId}/confirm`, {
      payment_method: card,
      return_url: returnUrl,
    })
    if (!confirmed.ok) throw new Error(await confirmed.text())
    const done = await fetch(returnUrl, { headers: { cookie: this.#cookie } })
    if (!done.url.includes('done=saved')) throw new Error(`${done.url}: ${await done.text()}`)
  }

  async #read(path: string): Promise<string> {
    const answer = await fetch(this.#portal + path, { headers: { cookie: this.#cookie } })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return answer.text()
  }
}
