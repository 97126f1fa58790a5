import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TaxServiceAnswer, TaxServiceRequest } from '@tollgate/schemas/tax-service'

export type ReceivedQuestion = {
  readonly sale: TaxServiceRequest
  readonly body: Buffer
  readonly signature: string
}

/** Answers the question, or does something else with it. */
export type Answering = (sale: TaxServiceRequest, response: ServerResponse) => void

/** Answers with these rates. */
export function rates(...found: TaxServiceAnswer['rates']): Answering {
  return (_, response) => void response.end(JSON.stringify({ rates: found }))
}

/** The tax service of a provider. */
export class TaxServiceServer {
  readonly questions: ReceivedQuestion[] = []
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const sale = JSON.parse(body.toString()) as TaxServiceRequest
      this.questions.push({ sale, body, signature: String(request.headers['sv-signature']) })
      this.answering(sale, response)
    })
  })
  answering: Answering = rates()

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/tax`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => void this.#server.close(resolve))
  }
}
