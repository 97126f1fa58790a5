import { randomUUID } from 'node:crypto'
import type { OAuthClientProvider as LaterProvider } from '@modelcontextprotocol/client'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'

type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>
type Discovery = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0]
type Registration = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>

export type ProviderOptions = {
  /** URL that receives the authorization code. Default: a loopback port on which nothing listens. */
  readonly redirectUrl?: string
  /** URL of a client metadata document, which replaces the registration. */
  readonly documentUrl?: string
  /** `none` makes it a public client. Default: the server decides. */
  readonly authMethod?: 'none' | 'client_secret_basic' | 'client_secret_post'
}

/** The sign-in state of an MCP client. It implements the interfaces of the official clients of both eras. */
export class TestOAuthProvider implements OAuthClientProvider, LaterProvider {
  readonly redirectUrl: string
  readonly clientMetadataUrl?: string
  /** The last URL to which the client sent its user. */
  authorizationUrl: URL | undefined
  registration: Registration
  stored: Tokens
  readonly #authMethod: ProviderOptions['authMethod']
  readonly #state = randomUUID()
  #verifier = ''
  #discovery: Discovery | undefined

  constructor({ redirectUrl, documentUrl, authMethod }: ProviderOptions = {}) {
    this.redirectUrl = redirectUrl ?? 'http://127.0.0.1:33418/callback'
    if (documentUrl !== undefined) this.clientMetadataUrl = documentUrl
    this.#authMethod = authMethod
  }

  get clientMetadata() {
    const method = this.#authMethod
    return {
      client_name: 'Test client',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): Registration {
    return this.registration
  }

  saveClientInformation(registration: Registration): void {
    this.registration = registration
  }

  tokens(): Tokens {
    return this.stored
  }

  saveTokens(tokens: NonNullable<Tokens>): void {
    this.stored = tokens
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(discovery: Discovery): void {
    this.#discovery = discovery
  }

  discoveryState(): Discovery | undefined {
    return this.#discovery
  }

  /** Checks the URL to which the server redirected, and returns its parameters. */
  readCallback(callback: URL): URLSearchParams {
    if (!callback.href.startsWith(this.redirectUrl)) {
      throw new Error(`The server led to ${callback.href} instead of ${this.redirectUrl}`)
    }
    const { searchParams } = callback
    if (searchParams.get('state') !== this.#state) throw new Error('The state is another one')
    return searchParams
  }
}
