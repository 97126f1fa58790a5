/*
 * Puts the example behind the MCP proxy of the installation that `npm start` runs on this machine, as a provider's own script would
 * do. Another run changes the plans of the same product and keeps its address.
 *
 *   npm run example:mcp:register              for the example on port 3100
 *   npm run example:mcp:register -- --port N  on another port
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { port: { type: 'string', default: '3100' } } })
const originUrl = `http://localhost:${values.port}/mcp`
const name = 'Weather example'

/** The free plan is the default plan: customers get it at sign-in. */
const plans = [
  { key: 'free', name: 'Free', price: 0, currency: 'USD', billingCycle: 'monthly', limit: 3 },
  { key: 'pro', name: 'Pro', price: 900, currency: 'USD', billingCycle: 'monthly', limit: 1000 },
]
const tools = [
  { name: 'list_cities', noPlan: true, planKeys: [] },
  { name: 'forecast', planKeys: ['free', 'pro'] },
  { name: 'climate_report', planKeys: ['pro'] },
]

class RegistrationError extends Error {}

try {
  const { baseUrl, sandboxKey } = await readCredentials()
  await requireExample()
  const api = apiOf(baseUrl, sandboxKey)
  const found = await findProduct(api)
  const { mcpServer } =
    found === undefined
      ? await api('POST', '/v1/sdk/products/mcp/bootstrap', {
          name,
          mcpDomain: 'weather-example',
          originUrl,
          plans,
          tools,
        })
      : await api('PUT', `/v1/sdk/products/${found.reference}/mcp/plans`, {
          plans,
          toolMapping: tools,
        })
  if (mcpServer.url !== originUrl) {
    throw new RegistrationError(
      `The product "${name}" leads to ${mcpServer.url}. Start the example on that port.`,
    )
  }
  print(mcpServer.mcpProxyUrl)
} catch (error) {
  if (!(error instanceof RegistrationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function readCredentials() {
  const file = join(process.env.TOLLGATE_DATA_DIR ?? '.tollgate', 'credentials.json')
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    throw new RegistrationError(
      `There is no ${file}. Start Tollgate first: npm start. If its data is elsewhere, set TOLLGATE_DATA_DIR as for npm start.`,
    )
  }
}

/** Otherwise the first call through the proxy would fail, far from here. */
async function requireExample() {
  try {
    await fetch(originUrl, { method: 'OPTIONS' })
  } catch {
    const hint = values.port === '3100' ? '' : ` -- --port ${values.port}`
    throw new RegistrationError(
      `Nothing listens on ${originUrl}. Start the example first: npm run example:mcp${hint}`,
    )
  }
}

function apiOf(baseUrl, key) {
  return async (method, path, body) => {
    let response
    try {
      response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    } catch {
      throw new RegistrationError(`Tollgate does not answer on ${baseUrl}. Start it: npm start`)
    }
    const answer = await response.json()
    if (response.ok) return answer
    throw new RegistrationError(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  }
}

async function findProduct(api) {
  const query = `search=${encodeURIComponent(name)}&limit=100`
  const { products } = await api('GET', `/v1/sdk/products?${query}`)
  return products.find((product) => product.name === name && product.status === 'active')
}

function print(proxyUrl) {
  const config = JSON.stringify({ url: proxyUrl })
  console.log(`
The MCP server is sold at ${proxyUrl}

  list_cities      everybody who has signed in, not counted
  forecast         Free: 3 calls a month. Pro: 1,000
  climate_report   Pro ($9.00 a month), and Free within its 3 calls

Connect a client. It opens a browser for sign-in:

  Claude Code   claude mcp add --transport http weather-example ${proxyUrl}
                then /mcp in Claude Code to sign in
  VS Code       code --add-mcp '{"name":"weather-example","type":"http","url":"${proxyUrl}"}'
  Cursor        in ~/.cursor/mcp.json: {"mcpServers":{"weather-example":${config}}}
  Inspector     npx @modelcontextprotocol/inspector (needs Node 22)
                Transport: Streamable HTTP, URL: ${proxyUrl}

The walk is in docs/mcp.md.`)
}
