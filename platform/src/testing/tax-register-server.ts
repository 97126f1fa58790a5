import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type TaxRegisterServer = {
  readonly url: string
  /** Paths with queries of all requests so far. */
  readonly requests: readonly string[]
  /** Responses by tax id. Others are in the register. A text is sent as it is, except `hangs`, which gets no response. */
  readonly answers: Map<string, object | string>
  /** Numbers of sellers, without their prefix, that the register does not know. */
  readonly unknownSellers: Set<string>
  close(): Promise<void>
}

/** Starts a server that answers like the REST service of the EU's register of VAT numbers. */
export async function startTaxRegisterServer(): Promise<TaxRegisterServer> {
  const requests: string[] = []
  const answers: TaxRegisterServer['answers'] = new Map()
  const unknownSellers = new Set<string>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push(path)
    const [, state = '', number = ''] = /^\/ms\/([A-Z]{2})\/vat\/([^?]+)/.exec(path) ?? []
    const seller = new URL(path, 'http://register').searchParams.get('requesterNumber')
    const isSellerKnown = seller === null || !unknownSellers.has(seller)
    const answer = isSellerKnown
      ? (answers.get(`${state}${number}`) ?? registered)
      : { isValid: false, userError: 'INVALID_REQUESTER_INFO' }
    if (answer === 'hangs') return
    response.setHeader('content-type', 'application/json')
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answers,
    unknownSellers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const registered = {
  isValid: true,
  userError: 'VALID',
  name: 'Ada GmbH',
  address: 'Hauptstr. 1\n10115 Berlin',
  requestIdentifier: 'WAPIAAAA1',
}

export const unregistered = { isValid: false, userError: 'INVALID', name: '---', address: '---' }

export const stateAway = { isValid: false, userError: 'MS_UNAVAILABLE' }
