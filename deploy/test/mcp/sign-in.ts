import type { Queryable } from '@tollgate/platform/database/database'
import { HttpBrowser } from './http-browser.ts'

type Person = {
  readonly email: string
  /** Redirect URL of the client, which the browser does not open. */
  readonly redirectUrl: string
  /** Returns the code that was last sent to the address. */
  readonly readCode: (email: string) => Promise<string>
}

/**
 * Signs in as a person with a browser: enters the email address and the code, and allows the client. Returns the final redirect.
 */
export async function signInByForms(
  authorizationUrl: URL,
  { email, redirectUrl, readCode }: Person,
): Promise<URL> {
  const visitor = new HttpBrowser((url) => url.href.startsWith(redirectUrl))
  const start = await visitor.open(authorizationUrl)
  const sent = await visitor.submit(start, { email })
  const consent = await visitor.submit(sent, { code: await readCode(email) })
  const end = await visitor.submit(consent, { answer: 'allow' })
  if (end.location === undefined) throw new Error(`The sign-in ended at ${end.status}: ${end.text}`)
  return end.location
}

/** Reads the last code for the address from the database. */
export async function readStoredCode(sql: Queryable, email: string): Promise<string> {
  const [message] = await sql<{ body: string }[]>`
    select body from inbox_messages where recipient = ${email} order by created_at desc limit 1`
  const code = /\d{6}/.exec(message?.body ?? '')?.[0]
  if (code === undefined) throw new Error(`No code was sent to ${email}`)
  return code
}

/** Reads the last code for the address from the inbox page of an installation that sends no mail. */
export async function readInboxCode(baseUrl: string, email: string): Promise<string> {
  const response = await fetch(`${baseUrl}/inbox`, { headers: { accept: 'text/html' } })
  const messages = (await response.text()).split('<section')
  const code = /\b\d{6}\b/.exec(messages.find((each) => each.includes(email)) ?? '')?.[0]
  if (code === undefined) throw new Error(`The inbox shows no code for ${email}`)
  return code
}
