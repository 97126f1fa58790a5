import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  canIntentMove,
  intentTransitions,
  isFinal,
  type IntentState,
  type IntentTrigger,
} from './transitions.ts'

const triggers = Object.keys(intentTransitions) as IntentTrigger[]

test('never leaves a final state, and before that allows every report except a refusal', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...triggers), { maxLength: 30 }), (reports) => {
      let state: IntentState = 'creating'
      let end: IntentState | undefined
      for (const trigger of reports) {
        const isAllowed = canIntentMove(state, trigger)
        // A refusal means that the payment was never created, so it is ignored once the processor has reported the payment.
        const expected = end === undefined && (trigger !== 'refused' || state === 'creating')
        expect(isAllowed).toBe(expected)
        if (isAllowed) state = intentTransitions[trigger].to
        if (isFinal(state)) end ??= state
        if (end !== undefined) expect(state).toBe(end)
      }
    }),
  )
})
