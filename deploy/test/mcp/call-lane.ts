import { randomUUID } from 'node:crypto'

/** What the clients of one customer know about their calls. */
export type CallLedger = {
  readonly customerRef: string
  readonly token: string
  /** Number of calls answered with a result that is not an error. */
  answered: number
  /** Number of calls that the tool answered as failed. */
  answeredFailed: number
  /** Number of calls whose connection broke during a kill. The origin may have executed them. */
  broken: number
  /** Number of calls that could not connect. */
  unreached: number
  /** Number of other answers. A call that was not admitted must not be billed. */
  refused: number
}

export type LaneOptions = {
  readonly proxyUrl: string
  readonly ledger: CallLedger
  /** Number of calls to be answered. Unanswered calls are made in addition. */
  readonly calls: number
  /**
   * Whether each call has a client key, with which it is repeated until it is answered. It must then count once, however often the
   * origin executed it.
   */
  readonly hasKeys: boolean
}

/** Fraction of calls of a tool that fails. */
const failingShare = 0.1
const retryPauseMs = 50

/** Calls tools one after the other as a client of MCP 2026-07-28. */
export async function runLane(options: LaneOptions): Promise<void> {
  const { ledger, calls, hasKeys } = options
  let answers = 0
  while (answers < calls) {
    const toolName = Math.random() < failingShare ? 'test_error_handling' : 'test_simple_text'
    const key = hasKeys ? randomUUID() : undefined
    let outcome = await callOnce(options, toolName, key)
    while (hasKeys && outcome !== 'answered' && outcome !== 'answeredFailed') {
      await new Promise((resolve) => setTimeout(resolve, retryPauseMs))
      outcome = await callOnce(options, toolName, key)
    }
    ledger[outcome] += 1
    if (outcome === 'answered' || outcome === 'answeredFailed') answers += 1
    else await new Promise((resolve) => setTimeout(resolve, retryPauseMs))
  }
}

type Outcome = 'answered' | 'answeredFailed' | 'broken' | 'unreached' | 'refused'

async function callOnce(
  { proxyUrl, ledger }: LaneOptions,
  toolName: string,
  key: string | undefined,
): Promise<Outcome> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'exactness', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(key === undefined ? {} : { 'tollgate/idempotencyKey': key }),
  }
  const body = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: toolName, arguments: { customer: ledger.customerRef }, _meta: meta },
  }
  let answer: { result?: { isError?: boolean }; error?: unknown }
  try {
    const response = await fetch(proxyUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ledger.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': toolName,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
    answer = JSON.parse(data) as typeof answer
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    return code === 'ECONNREFUSED' ? 'unreached' : 'broken'
  }
  if (answer.result === undefined) return 'refused'
  if (answer.result.isError !== true) return 'answered'
  return JSON.stringify(answer.result).includes('intentionally') ? 'answeredFailed' : 'refused'
}
