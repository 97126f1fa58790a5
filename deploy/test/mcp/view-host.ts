import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge'
import type { CallToolResult, Transport } from '@modelcontextprotocol/client'
import axe from 'axe-core'
import type { Browser, Frame, Page } from 'playwright-core'

type HostContext = NonNullable<Parameters<AppBridge['setHostContext']>[0]>

export type ViewOptions = {
  readonly html: string
  readonly context?: HostContext
  /** Opens links and returns the host's answer. If absent, the host does not announce that it opens links. */
  readonly openLink?: (url: string) => { isError?: boolean }
  readonly width?: number
}

/** A view in a frame as an MCP client shows it: sandboxed, without network, and controlled by messages only. */
export type ShownView = {
  readonly page: Page
  readonly frame: Frame
  readonly bridge: AppBridge
  /** All network requests of the view. */
  readonly requests: readonly string[]
  showResult(result: CallToolResult): Promise<void>
  /** Returns the names of the accessibility rules that the view violates. */
  findViolations(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Content security policy of the specification for a view without declared domains. */
const policy = [
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline';",
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; base-uri 'self'",
].join(' ')

/** Shows the view with the host implementation of the official package. */
export async function showView(browser: Browser, options: ViewOptions): Promise<ShownView> {
  const { html, context = {}, openLink, width = 640 } = options
  const page = await browser.newPage({ viewport: { width, height: 480 }, locale: 'en-US' })
  const requests: string[] = []
  page.on('request', (request) => void requests.push(request.url()))
  const transport = await openTransport(page)
  const capabilities = openLink === undefined ? {} : { openLinks: {} }
  const host = { name: 'test', version: '1.0.0' }
  const bridge = new AppBridge(null, host, capabilities, { hostContext: context })
  if (openLink !== undefined) bridge.onopenlink = async ({ url }) => openLink(url)
  const initialized = new Promise<void>((resolve) =>
    bridge.addEventListener('initialized', () => resolve()),
  )
  // A view may still resize while its page is being closed.
  let isClosing = false
  bridge.addEventListener('sizechange', ({ height }) => {
    const resized = page.evaluate(`document.querySelector('iframe').style.height = '${height}px'`)
    resized.catch((error: unknown) => {
      if (!isClosing) throw error
    })
  })
  await bridge.connect(transport)
  const confined = html.replace(
    '<head>',
    `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`,
  )
  await page.evaluate(`document.querySelector('iframe').srcdoc = ${JSON.stringify(confined)}`)
  await initialized
  const frame = page.frames()[1]!
  return {
    ...{ page, frame, bridge, requests },
    showResult: (result) => bridge.sendToolResult(result),
    findViolations: async () => {
      await frame.evaluate(`(() => { ${axe.source} })()`)
      const { violations } = await frame.evaluate<axe.AxeResults>('axe.run()')
      return violations.map(({ id }) => id)
    },
    close: async () => {
      isClosing = true
      await bridge.close()
      await page.close()
    },
  }
}

/** Transports messages between the bridge in this process and the frame in the browser. */
async function openTransport(page: Page): Promise<Transport> {
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => {
      const text = JSON.stringify(message)
      await page.evaluate(
        `document.querySelector('iframe').contentWindow.postMessage(${text}, '*')`,
      )
    },
    close: async () => transport.onclose?.(),
  }
  await page.exposeFunction('toHost', (message: never) => transport.onmessage?.(message))
  await page.setContent(`<!doctype html><html lang="en"><body style="margin:0">
    <iframe sandbox="allow-scripts" title="View" style="border:0;width:100%;height:0"></iframe>
    <script>addEventListener('message', ({ source, data }) => {
      if (source === document.querySelector('iframe').contentWindow) toHost(data)
    })</script></body></html>`)
  return transport
}
