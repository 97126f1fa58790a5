import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { beginRecharges } from '../../recording/begin-recharges.ts'
import { recordAllUsage, recordUsage, type RecordedUsage } from '../../recording/record-usage.ts'
import type { Answer } from '../http-front.ts'
import type { RecordingParts } from './recording-parts.ts'

/*
 * These functions keep no event until the log has it, and neither may the functions that they are given: those take what they need
 * of the events before. If every request in flight kept its events, each garbage collection would copy them all.
 */

/** Records one event. `fieldsOf` returns the members of the response that tell its result. */
export function recordAndAnswer(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  event: MeterEvent,
  fieldsOf: (recorded: RecordedUsage) => string,
): Promise<Answer> {
  const answer = (recorded: RecordedUsage): Answer => {
    return { status: 200, body: `{"success":true,${fieldsOf(recorded)}}` }
  }
  return recordUsage(parts, holder, event).then((recorded) => {
    if (recorded.low === undefined) return answer(recorded)
    return beginRecharges(parts.recharges, authorization, [recorded]).then(([result]) =>
      answer(result!),
    )
  })
}

/** Records the events of a bulk request. `fieldsOf` returns the members of one result; `at` is the place of its event. */
export function recordAndAnswerAll(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  events: readonly MeterEvent[],
  fieldsOf: (recorded: RecordedUsage, at: number) => string,
): Promise<Answer> {
  return recordAllUsage(parts, holder, events)
    .then((recorded) => beginRecharges(parts.recharges, authorization, recorded))
    .then((recorded) => {
      const inserted = recorded.filter(({ outcome }) => outcome === 'recorded').length
      const list = recorded.map((each, at) => `{${fieldsOf(each, at)}}`).join(',')
      return { status: 200, body: `{"success":true,"inserted":${inserted},"results":[${list}]}` }
    })
}
