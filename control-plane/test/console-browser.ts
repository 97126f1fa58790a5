import { createHmac } from 'node:crypto'
import type { SignedInUserBody } from '@tollgate/schemas/http/console-auth'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import { createUser, password, quickPasswords } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

export type Page = { readonly status: number; readonly headers: Headers; readonly text: string }

/** Starts a stack for tests of the console's pages. It allows 3 failed sign-ins per email address. */
export function startConsoleStack(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestStack> {
  return startTestStack({
    settings: {
      ...quickPasswords,
      TOLLGATE_CONSOLE_SIGN_INS_PER_EMAIL_MAX: '3',
      TOLLGATE_HOSTED_URL: 'https://pay.acme.example',
      ...settings,
    },
  })
}

let usersCount = 0

/** Creates a user with the role and an unused email address. Returns the address. */
export async function createNewUser(
  stack: TestStack,
  tenant: Tenant,
  role: ConsoleRole = 'owner',
): Promise<string> {
  usersCount += 1
  const email = `${role}${usersCount}@example.com`
  await createUser(stack, tenant, email, role)
  return email
}

/** Returns a browser in which a new user with the role is signed in. */
export async function openSignedIn(
  stack: TestStack,
  tenant: Tenant,
  role?: ConsoleRole,
): Promise<TestBrowser> {
  const browser = openTestBrowser(stack)
  const { status } = await signIn(browser, await createNewUser(stack, tenant, role))
  if (status !== 303) throw new Error(`not signed in: ${status}`)
  return browser
}

/** Returns a browser that keeps cookies but does not follow redirects. */
export function openTestBrowser(stack: TestStack) {
  const cookies = new Map<string, string>()
  const load = async (path: string, init: RequestInit = {}): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', cookie, ...(init.headers as object) }
    const response = await stack.fetch(path, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  /** Sends the form of the page with its hidden fields and, if it has a choice, with the first option. */
  const submit = (path: string, fields: Record<string, string>, from: Page): Promise<Page> => {
    const body = new URLSearchParams({ ...fieldsOfForm(from.text, path), ...fields })
    return load(path, { method: 'POST', body })
  }
  /** Sends a form with the token of the forms of a signed-in user. */
  const submitSignedIn = (path: string, fields: Record<string, string>): Promise<Page> => {
    const token = cookies.get('tollgate_console') ?? ''
    const formToken = createHmac('sha256', token).update('form').digest('base64url')
    return load(path, { method: 'POST', body: new URLSearchParams({ formToken, ...fields }) })
  }
  /** Returns the signed-in user as the console reads it, or undefined if the request is refused. */
  const me = async (environment = 'sandbox'): Promise<SignedInUserBody | undefined> => {
    const { status, text } = await load('/v1/ui/auth/me', {
      headers: { 'tollgate-environment': environment },
    })
    return status === 200 ? (JSON.parse(text) as SignedInUserBody) : undefined
  }
  return { cookies, load, submit, submitSignedIn, me }
}

export type TestBrowser = ReturnType<typeof openTestBrowser>

export async function signIn(browser: TestBrowser, email: string, more = {}): Promise<Page> {
  const page = await browser.load('/console/sign-in')
  return browser.submit('/console/sign-in', { email, password, ...more }, page)
}

/** Returns the fields of the page's form that one of its buttons sends to the action. */
function fieldsOfForm(html: string, action: string): Record<string, string> {
  const forms = html.split('<form')
  const form =
    forms.find((part) => part.toLowerCase().includes(`action="${action.toLowerCase()}"`)) ?? ''
  const named = [
    ...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g),
    ...form.matchAll(/<select name="([^"]+)"><option value="([^"]*)"/g),
  ]
  return Object.fromEntries(
    named.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
  )
}
