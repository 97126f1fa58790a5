import { createSeededRandom } from '../client/seeded-random.ts'
import { catalogRequests } from './catalog-requests.ts'
import { consoleRequests } from './console-requests.ts'
import { describedRequests, type ApiDescription } from './described-requests.ts'
import type { CorpusRequest, Exchange } from './exchange.ts'
import { learn, nothingKnown } from './known-objects.ts'
import type { Player } from './player.ts'
import { createDraw, get, send, type Maker } from './random-source.ts'
import { usageRequests } from './usage-requests.ts'

/** Requests that create what later ones use. */
const opening: readonly CorpusRequest[] = [
  get('/v1/ui/meters'),
  send('POST', '/v1/ui/meters', { name: 'tokens', unit: 'tokens' }),
  send('POST', '/v1/ui/meters', { name: 'storage', unit: 'GB' }),
  send('PATCH', '/v1/ui/merchant', { supportEmail: 'help@acme.example' }),
  send('PUT', '/v1/ui/exchange-rates/SEK', { unitsPerDollar: '9.46' }),
  send('PUT', '/v1/ui/exchange-rates/EUR', { unitsPerDollar: '0.92' }),
]

/** Plays `count` random requests and returns them with their answers. Each request may use what earlier answers created. */
export async function recordCorpus(
  player: Player,
  description: ApiDescription,
  options: { readonly seed: number; readonly count: number },
): Promise<Exchange[]> {
  const random = createSeededRandom(options.seed)
  const known = nothingKnown()
  const makers: readonly (readonly [number, Maker])[] = [
    ...catalogRequests,
    ...usageRequests,
    ...consoleRequests,
    [60, describedRequests(description)],
  ]
  const total = makers.reduce((sum, [weight]) => sum + weight, 0)
  const pickMaker = (): Maker => {
    let left = random.fraction() * total
    return (makers.find(([weight]) => (left -= weight) < 0) ?? makers[0]!)[1]
  }
  const exchanges: Exchange[] = []
  while (exchanges.length < options.count) {
    const number = exchanges.length
    const request = opening[number] ?? pickMaker()(createDraw(random, known, number))
    const answer = await player.play(request)
    learn(known, request, answer)
    exchanges.push({ request, answer })
  }
  return exchanges
}
