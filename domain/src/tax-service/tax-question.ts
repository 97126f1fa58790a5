import { createHash } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { TaxServiceAnswer, TaxServiceRequest } from '@tollgate/schemas/tax-service'
import { OutsideQuestion } from '../unit-of-work/outside-question.ts'
import type { TaxService } from './tax-service.ts'

/** The answer of the service. `built_in`: the service did not answer, and the provider has chosen the built-in rule for that case. */
export type TaxDecision = TaxServiceAnswer | 'built_in'

export type AskedSale = Omit<TaxServiceRequest, 'id'>

/** Asks the tax service of a provider about a sale. */
export class TaxQuestion extends OutsideQuestion {
  override readonly name = 'TaxQuestion'
  readonly key: string
  readonly providerId: string
  readonly service: TaxService
  readonly sale: AskedSale
  /** Set when the question was asked. */
  decision: TaxDecision | undefined

  constructor(providerId: string, service: TaxService, sale: AskedSale) {
    super('the tax service of the provider was not asked')
    this.providerId = providerId
    this.service = service
    this.sale = sale
    this.key = createHash('sha256')
      .update(JSON.stringify([providerId, service.url, service.onFailure, sale]))
      .digest('hex')
  }

  get environment(): Environment {
    return this.sale.livemode ? 'live' : 'sandbox'
  }
}

/** Returns the service's decision on the sale. Throws the question if it was not asked yet. */
export function decisionOn(question: TaxQuestion, asked: readonly OutsideQuestion[]): TaxDecision {
  for (const each of asked) {
    if (!(each instanceof TaxQuestion) || each.key !== question.key) continue
    if (each.decision !== undefined) return each.decision
  }
  throw question
}

/** The service does not answer, and the provider wants nothing to be invoiced until it does. */
export class TaxServiceUnavailableError extends Error {
  override readonly name = 'TaxServiceUnavailableError'
}
