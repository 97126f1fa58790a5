/** A received page with its URL. */
type ReceivedPage = { readonly url: string; readonly html: string }

export type FormBrowser = {
  open(url: string): Promise<ReceivedPage>
  /** Submits the first form of the page with a field `named`, with its initial values and those in `filledIn`. */
  submit(
    page: ReceivedPage,
    named: string,
    filledIn?: Readonly<Record<string, string>>,
  ): Promise<ReceivedPage>
}

const redirectsMax = 10

/**
 * Returns a browser without scripts that follows links, redirects and forms, and keeps cookies. Any status other than 200 throws.
 */
export function createFormBrowser(): FormBrowser {
  const cookies = new Map<string, string>()

  async function request(url: string, body?: URLSearchParams): Promise<ReceivedPage> {
    let [address, sent] = [url, body]
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(address, {
        redirect: 'manual',
        headers: { cookie, accept: 'text/html' },
        ...(sent !== undefined && { method: 'POST', body: sent }),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (name !== undefined && value !== undefined) cookies.set(name, value)
      }
      const html = await response.text()
      if (response.status === 200) return { url: address, html }
      const location = response.headers.get('location')
      if (location === null) {
        throw new Error(`${new URL(address).pathname} answered ${response.status}: ${textOf(html)}`)
      }
      address = new URL(location, address).href
      sent = undefined
    }
    throw new Error(`${url} redirects without end`)
  }

  return {
    open: (url) => request(url),
    submit: async (page, named, filledIn = {}) => {
      const form = forms(page.html).find(({ fields }) => fields.has(named))
      if (form === undefined) {
        throw new Error(
          `${new URL(page.url).pathname} has no form with ${named}: ${textOf(page.html)}`,
        )
      }
      const fields = new URLSearchParams([...form.fields, ...Object.entries(filledIn)])
      for (const [name, value] of Object.entries(filledIn)) fields.set(name, value)
      const url = new URL(form.action ?? page.url, page.url)
      if (form.isPost) return request(url.href, fields)
      url.search = fields.toString()
      return request(url.href)
    },
  }
}

type Form = {
  readonly action: string | undefined
  readonly isPost: boolean
  readonly fields: ReadonlyMap<string, string>
}

/**
 * Parses only what Tollgate's own pages use: inputs with quoted attributes. A select without a selection counts as an empty value.
 */
function forms(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)].map(([, head = '', inside = '']) => {
    const fields = new Map<string, string>()
    for (const [tag] of inside.matchAll(/<(?:input|select|textarea)\b[^>]*>/g)) {
      const name = attribute(tag, 'name')
      const isUnchecked = /type="(?:checkbox|radio)"/.test(tag) && !/\schecked\b/.test(tag)
      if (name !== undefined && !isUnchecked) fields.set(name, attribute(tag, 'value') ?? '')
    }
    const isPost = attribute(head, 'method')?.toLowerCase() === 'post'
    return { action: attribute(head, 'action'), isPost, fields }
  })
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&amp;', '&')
}

/** Returns the first words of a page, for error messages. */
function textOf(html: string): string {
  const body = html.slice(Math.max(0, html.indexOf('<body')))
  return body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
}
