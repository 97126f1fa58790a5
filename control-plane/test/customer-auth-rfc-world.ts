import {
  Browser,
  Caller,
  createWorld,
  drawPkce,
  redirectUri,
  startAuthStack,
  type Client,
  type World,
} from './customer-auth-world.ts'
import type { TestStack } from './test-stack.ts'

/** A server with a client, and a browser whose user is signed in, so that each authorization request needs only a consent. */
export class RfcWorld {
  readonly stack: TestStack
  readonly world: World
  readonly caller: Caller
  readonly client: Client
  readonly browser: Browser

  private constructor(stack: TestStack, world: World, caller: Caller, client: Client) {
    this.stack = stack
    this.world = world
    this.caller = caller
    this.client = client
    this.browser = new Browser(stack)
  }

  static async start(): Promise<RfcWorld> {
    const stack = await startAuthStack()
    const world = await createWorld(stack)
    const caller = new Caller(stack, world)
    return new RfcWorld(stack, world, caller, (await caller.register()).body)
  }

  /** Sends an authorization request with changed parameters. Returns the response to the client or the browser. */
  async authorizeWith(
    change: Record<string, string | undefined>,
    repeated: [string, string][] = [],
  ) {
    const url = new URL(this.caller.authorizeUrl(this.client, drawPkce().challenge))
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) url.searchParams.delete(name)
      else url.searchParams.set(name, value)
    }
    for (const [name, value] of repeated) url.searchParams.append(name, value)
    const page = await new Browser(this.stack).open(url.href)
    const { location } = page
    const isToClient = location?.startsWith(redirectUri) ?? false
    // For a response type that uses the fragment, the error is in the fragment as well.
    const given = isToClient ? new URL(location!) : undefined
    const answer =
      given && Object.fromEntries(new URLSearchParams(given.search || given.hash.slice(1)))
    return { page, answer }
  }

  async newCode(more: Record<string, string> = {}, client = this.client) {
    const { verifier, challenge } = drawPkce()
    return this.codeFor(client, { verifier, challenge, more })
  }

  async codeFor(
    client: Client,
    given: { verifier: string; challenge: string; more?: Record<string, string> },
  ) {
    const { verifier, challenge, more = {} } = given
    const options = { challenge, more }
    const callback = await this.caller.authorize(client, 'codes@example.com', options, this.browser)
    return { code: callback.searchParams.get('code')!, verifier, callback }
  }

  async newTokens(more: Record<string, string> = {}, client = this.client) {
    const { code, verifier } = await this.newCode(more, client)
    const { status, body } = await this.caller.redeem(client, code, verifier)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body
  }

  /** Sends a form in which a parameter may occur more than once. */
  post(endpoint: string, pairs: [string, string][], headers: Record<string, string> = {}) {
    return this.caller.json<Record<string, string>>(`${this.caller.base}/${endpoint}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(pairs),
    })
  }
}
