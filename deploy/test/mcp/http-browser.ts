/** A visited page, and where it redirects. */
export type HttpPage = {
  readonly url: URL
  readonly status: number
  readonly text: string
  /** Target of the redirect. */
  readonly location: URL | undefined
}

/** A browser without scripts. It follows redirects, keeps cookies by host and path, and submits forms. */
export class HttpBrowser {
  readonly #cookies = new Map<
    string,
    { readonly value: string; readonly path: string; readonly host: string }
  >()
  /** Returns whether a URL is not opened, for example one on the client's own machine. */
  readonly #ends: (url: URL) => boolean

  constructor(ends: (url: URL) => boolean) {
    this.#ends = ends
  }

  /** Opens the URL and follows redirects to the first page, or to a URL that is not opened. */
  async open(address: URL, form?: Readonly<Record<string, string>>): Promise<HttpPage> {
    let page = await this.#fetch(address, form)
    while (page.location !== undefined && !this.#ends(page.location)) {
      page = await this.#fetch(page.location)
    }
    return page
  }

  /** Submits the page's form that has a field or button of each given name, including its hidden fields. */
  submit(page: HttpPage, fields: Readonly<Record<string, string>>): Promise<HttpPage> {
    const forms = page.text.match(/<form[\s\S]*?<\/form>/g) ?? []
    const form = forms.find((each) =>
      Object.keys(fields).every((name) => each.includes(`name="${name}"`)),
    )
    if (form === undefined) {
      throw new Error(
        `${page.status} ${page.url.href} has no form for ${Object.keys(fields).join(', ')}: ${page.text}`,
      )
    }
    const action = /<form[^>]*\baction="([^"]*)"/.exec(form)?.[1] ?? page.url.href
    const hidden = [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? '',
      unescapeHtml(/value="([^"]*)"/.exec(input)?.[1] ?? ''),
    ])
    return this.open(new URL(unescapeHtml(action), page.url), {
      ...(Object.fromEntries(hidden) as Record<string, string>),
      ...fields,
    })
  }

  async #fetch(url: URL, form?: Readonly<Record<string, string>>): Promise<HttpPage> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: this.#cookiesFor(url) },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(url, cookie)
    const location = response.headers.get('location')
    return {
      url,
      status: response.status,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url),
    }
  }

  #keep({ host }: URL, cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map((each) => each.trim())
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
    const isOver =
      value === '' || attributes.some((each) => /^max-age=0$|expires=.*1970/i.test(each))
    if (isOver) this.#cookies.delete(name)
    else this.#cookies.set(name, { value, path, host })
  }

  #cookiesFor({ host, pathname }: URL): string {
    return [...this.#cookies]
      .filter(([, cookie]) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ')
  }
}

function unescapeHtml(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#x27;', "'")
}
