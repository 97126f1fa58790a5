import { acceptUsage } from '@tollgate/schemas/http/accept-usage'
import { usageSchema, type CreditDebit, type UsageInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../../domain/bulk-events.ts'
import { duplicateDebit } from '../../domain/debit-decider.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { hotRoute, validationAnswer, type HotCall } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { receiptOf, type RecordingParts } from './recording-parts.ts'
import { resultFields } from './usage-result.ts'

export const usagesPath = '/v1/sdk/usages'

/** `POST /v1/sdk/usages`: one usage call. */
export function usagesRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs } = parts
  const path = usagesPath
  return hotRoute<UsageInput>({
    path,
    keys,
    nowMs,
    accept: acceptUsage,
    schema: usageSchema,
    handle: (call) => {
      const built = usageEvent(call.input, receiptOf(parts, call.holder))
      return isEvent(built)
        ? record(parts, call, built)
        : validationAnswer({ path, nowMs }, [built])
    },
  })
}

function record(
  parts: RecordingParts,
  { holder }: HotCall<UsageInput>,
  event: MeterEvent,
): Promise<Answer> {
  const placed = parts.place(holder.environment, event)
  const debit = parts.debits.decide(holder, placed)
  const recorded = parts.recorder.record(holder.environment, placed)
  if (!(debit instanceof Promise)) {
    return recorded.then((outcome) =>
      success(event.id, outcome === 'duplicate' ? duplicateDebit : debit),
    )
  }
  return Promise.all([recorded, debit]).then(([outcome, decided]) =>
    success(event.id, outcome === 'duplicate' ? duplicateDebit : decided),
  )
}

function success(reference: string, debit: CreditDebit | undefined): Answer {
  return { status: 200, body: `{"success":true,${resultFields(reference, debit)}}` }
}
