/*
 * A small MCP server, as a provider has it before Tollgate: it knows nothing of customers, plans and payments.
 *
 *   npm run example:mcp              starts it on http://localhost:3100/mcp
 *   npm run example:mcp -- --port N  on another port
 */
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const skies = ['clear', 'cloudy', 'rain', 'snow', 'fog']
const city = z.string().min(1).max(100).describe('Name of a city, such as Lisbon')

/** Weather that is made up, and the same for the same city and day. */
function weatherOf(name, day) {
  let seed = day + 1
  for (const letter of name.toLowerCase()) seed = (seed * 31 + letter.charCodeAt(0)) % 9973
  return { day, sky: skies[seed % skies.length], highCelsius: (seed % 35) - 5 }
}

function text(value) {
  return { content: [{ type: 'text', text: value }] }
}

function createWeatherServer() {
  const server = new McpServer({ name: 'weather-example', version: '1.0.0' })

  server.registerTool(
    'list_cities',
    { title: 'Cities', description: 'Lists cities that are asked for often.' },
    () => text('Lisbon, Nairobi, Oslo, Quito, Tokyo'),
  )

  server.registerTool(
    'forecast',
    {
      title: 'Forecast',
      description: 'Forecasts the weather of a city for three days.',
      inputSchema: z.object({ city }),
      outputSchema: z.object({
        city: z.string(),
        days: z.array(z.object({ day: z.number(), sky: z.enum(skies), highCelsius: z.number() })),
      }),
    },
    ({ city: name }) => {
      const forecast = { city: name, days: [0, 1, 2].map((day) => weatherOf(name, day)) }
      return { ...text(JSON.stringify(forecast)), structuredContent: forecast }
    },
  )

  server.registerTool(
    'climate_report',
    {
      title: 'Climate report',
      description: 'Writes a report about a year of weather in a city.',
      inputSchema: z.object({ city }),
    },
    ({ city: name }) => {
      const highs = Array.from({ length: 365 }, (_, day) => weatherOf(name, day).highCelsius)
      const mean = highs.reduce((sum, high) => sum + high, 0) / highs.length
      return text(
        `Climate of ${name}: on average ${mean.toFixed(1)} °C, from ${Math.min(...highs)} to ${Math.max(...highs)} °C.`,
      )
    },
  )
  return server
}

const { values } = parseArgs({ options: { port: { type: 'string', default: '3100' } } })
const handle = toNodeHandler(createMcpHandler(createWeatherServer))
// Against web pages that lead a name of theirs to this machine.
const isOfThisMachine = localhostHostValidation()
const httpServer = createServer((request, response) => {
  if (!isOfThisMachine(request, response)) return
  if (new URL(request.url, 'http://127.0.0.1').pathname === '/mcp') void handle(request, response)
  else response.writeHead(404).end()
})
httpServer.on('error', (error) => {
  const hint = error.code === 'EADDRINUSE' ? ' Choose another: npm run example:mcp -- --port N' : ''
  console.error(`The example cannot listen on port ${values.port}: ${error.message}.${hint}`)
  process.exitCode = 1
})
httpServer.listen(Number(values.port), '127.0.0.1', () => {
  const { port } = httpServer.address()
  console.log(`The example listens on http://localhost:${port}/mcp

Sell it: start Tollgate with npm start, then run in another terminal:

  npm run example:mcp:register${port === 3100 ? '' : ` -- --port ${port}`}
`)
})
