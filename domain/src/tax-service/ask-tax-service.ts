import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { PostOutcome } from '@tollgate/platform/outbound/post'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { Environment } from '@tollgate/schemas/environment'
import { taxServiceAnswerSchema, type TaxServiceAnswer } from '@tollgate/schemas/tax-service'
import type { AskOutside, OutsideQuestion } from '../unit-of-work/outside-question.ts'
import { signWebhook } from '../webhooks/sign-webhook.ts'
import { FailurePauses } from './failure-pauses.ts'
import { faultOf } from './rule-of-answer.ts'
import { TaxQuestion, TaxServiceUnavailableError } from './tax-question.ts'
import { taxServiceAnswerBytesMax } from './tax-service-settings.ts'
import { taxServiceSecretPlace } from './tax-service.ts'

/**
 * How a question ended. `status`: the response had another status than 200. `invalid`: the answer has another form. `paused`: the
 * service was not asked, because it had failed. The others name why the request failed.
 */
export type TaxServiceOutcome =
  'answered' | Extract<PostOutcome, { kind: 'failed' }>['failure'] | 'status' | 'invalid' | 'paused'

export type TaxServiceParts = {
  readonly outbound: Pick<Outbound, 'of'>
  readonly secrets: Pick<Secrets, 'open'>
  readonly logger: Pick<Logger, 'warn'>
  /** Real time, whatever the time of the customer. */
  readonly now: () => Date
  /** Called after each question, with the seconds until its answer. */
  readonly count: (environment: Environment, outcome: TaxServiceOutcome, seconds: number) => void
  readonly limits: {
    readonly taxServiceFailuresMax: number
    readonly taxServicePauseMs: number
  }
}

type Asked =
  | { readonly outcome: 'answered'; readonly answer: TaxServiceAnswer }
  | { readonly outcome: Exclude<TaxServiceOutcome, 'answered'>; readonly message: string }

/**
 * Creates the function that asks tax services. A question is asked once. If the service does not answer, the provider's policy decides:
 * the built-in rule, or TaxServiceUnavailableError.
 */
export function createTaxServiceClient(parts: TaxServiceParts): AskOutside {
  const { taxServiceFailuresMax: failuresMax, taxServicePauseMs: pauseMs } = parts.limits
  const pauses = new FailurePauses({ failuresMax, pauseMs })
  return async (question: OutsideQuestion) => {
    if (!(question instanceof TaxQuestion)) throw question
    const { environment, providerId, service } = question
    const startedAt = performance.now()
    const name = `${environment} ${providerId} ${service.url}`
    const asked = pauses.isPaused(name)
      ? ({ outcome: 'paused', message: 'the service has failed and is not asked now' } as const)
      : await askOnce(parts, question)
    if (asked.outcome !== 'paused') pauses.note(name, asked.outcome === 'answered')
    parts.count(environment, asked.outcome, (performance.now() - startedAt) / 1_000)
    if (asked.outcome === 'answered') {
      question.decision = asked.answer
      return
    }
    const { outcome, message } = asked
    parts.logger.warn({ environment, providerId, outcome, message }, 'a tax service did not answer')
    if (service.onFailure === 'hold') throw new TaxServiceUnavailableError(message)
    question.decision = 'built_in'
  }
}

/** The request is signed like webhooks, so the provider verifies both with the same code. */
async function askOnce(
  { outbound, secrets, now }: TaxServiceParts,
  { environment, providerId, service, sale, key }: TaxQuestion,
): Promise<Asked> {
  const secret = secrets.open(service.sealedSecret, taxServiceSecretPlace(providerId))
  const body = Buffer.from(JSON.stringify({ id: key, ...sale }))
  const outcome = await outbound.of(environment).post({
    url: service.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Tollgate/1 (+tax-service)',
      'sv-signature': signWebhook([secret], body, Math.floor(now().getTime() / 1_000)),
    },
    body,
    answerBytesMax: taxServiceAnswerBytesMax,
  })
  if (outcome.kind === 'failed') return { outcome: outcome.failure, message: outcome.message }
  if (outcome.status !== 200) {
    return { outcome: 'status', message: `it answered with status ${outcome.status}` }
  }
  if (outcome.isBodyCut) return { outcome: 'too-large', message: 'its answer is too long' }
  return readAnswer(outcome.body)
}

function readAnswer(body: Buffer): Asked {
  let json: unknown
  try {
    json = JSON.parse(body.toString())
  } catch {
    return { outcome: 'invalid', message: 'its answer is not JSON' }
  }
  const parsed = taxServiceAnswerSchema.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const at = issue?.path.join('.') ?? ''
    return { outcome: 'invalid', message: `its answer is invalid at ${at}: ${issue?.message}` }
  }
  const fault = faultOf(parsed.data)
  return fault === undefined
    ? { outcome: 'answered', answer: parsed.data }
    : { outcome: 'invalid', message: fault }
}
