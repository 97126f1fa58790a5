import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Admission, CallEnd, Gate, GatedCall, VirtualCall } from '../src/gate/gate.ts'

export type Settled = CallEnd & { readonly callId: string; readonly toolName: string }

/** Replaces the gate in tests about the forwarding of messages. It admits all calls and records how they ended. */
export class RecordingGate implements Gate {
  readonly admitted: GatedCall[] = []
  readonly settled: Settled[] = []
  /** Decides about the next calls. If it returns undefined, the call is admitted. */
  decide: ((call: GatedCall) => Admission | Promise<Admission | undefined>) | undefined

  reset(): void {
    this.admitted.length = 0
    this.settled.length = 0
    this.decide = undefined
  }

  async admit(call: GatedCall): Promise<Admission> {
    this.admitted.push(call)
    const decided = await this.decide?.(call)
    if (decided !== undefined) return decided
    if (call.server.tools.get(call.toolName)?.access === 'public') return { kind: 'open' }
    const { callId, toolName } = call
    return {
      kind: 'admitted',
      settle: (end) => void this.settled.push({ ...end, callId, toolName }),
    }
  }

  adaptTools(
    _server: unknown,
    _client: unknown,
    tools: readonly JsonObject[],
    isLastPage: boolean,
  ): JsonObject[] {
    return isLastPage
      ? [...tools, { name: 'upgrade', inputSchema: { type: 'object' } }]
      : [...tools]
  }

  isVirtual(_server: unknown, toolName: string): boolean {
    return toolName === 'upgrade'
  }

  async callVirtual({ customerRef }: VirtualCall): Promise<JsonObject> {
    return { content: [{ type: 'text', text: `upgrade of ${customerRef}` }] }
  }
}
