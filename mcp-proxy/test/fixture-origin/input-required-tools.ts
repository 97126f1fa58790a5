import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { reportProgress } from './conversation-tools.ts'
import { text } from './samples.ts'

type Round = { readonly step: number }

const askName = askFor('What is your name?', 'name', 'string')
const askConfirmation = askFor('Please confirm', 'ok', 'boolean')

/** Adds tools whose calls take several rounds: the client answers questions and calls again. */
export function addInputRequiredTools(server: McpServer, states: RequestStateCodec<Round>): void {
  const add = (
    name: string,
    call: (context: ServerContext) => ReturnType<Parameters<typeof server.registerTool>[2]>,
  ) =>
    server.registerTool(
      `test_input_required_result_${name}`,
      { description: `${name} in rounds.` },
      call,
    )

  add('elicitation', ({ mcpReq }) => {
    const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name')
    if (typeof answer?.name === 'string') return text(`Hello, ${answer.name}!`)
    return inputRequired({ inputRequests: { user_name: askName } })
  })
  add('sampling', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content))
    return inputRequired({
      inputRequests: { capital_question: ask('What is the capital of France?', 100) },
    })
  })
  add('list_roots', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return text(answer.roots.map(({ uri }) => uri).join(', '))
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  add('request_state', confirmWithState('state-ok'))
  add('tampered_state', confirmWithState('confirmed'))
  add('multiple_inputs', async (context) => {
    const { inputResponses, requestState } = context.mcpReq
    const hasAll = ['user_name', 'greeting', 'client_roots'].every(
      (key) => inputResponse(inputResponses, key).kind !== 'missing',
    )
    if (hasAll && requestState() !== undefined) return text('All inputs arrived.')
    return inputRequired({
      inputRequests: {
        user_name: askName,
        greeting: ask('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 1 }, context),
    })
  })
  add('multi_round', async (context) => {
    const step = context.mcpReq.requestState<Round>()?.step ?? 0
    if (step === 2) return text('Both rounds are complete.')
    const request =
      step === 0
        ? { step1: askFor('Step 1: What is your name?', 'name', 'string') }
        : { step2: askFor('Step 2: What is your favorite color?', 'color', 'string') }
    const requestState = await states.mint({ step: step + 1 }, context)
    return inputRequired({ inputRequests: request, requestState })
  })
  add('capabilities', ({ mcpReq }) => {
    const abilities = server.server.getClientCapabilities()
    const inputRequests = {
      ...(abilities?.sampling === undefined ? {} : { greeting: ask('Generate a greeting', 50) }),
      ...(abilities?.elicitation === undefined ? {} : { user_name: askName }),
    }
    if (Object.keys(inputRequests).length === 0) return text('Nothing can be asked.')
    if (Object.keys(mcpReq.inputResponses ?? {}).length > 0) return text('Answered.')
    return inputRequired({ inputRequests })
  })
  // If the client did not declare the capability, the SDK refuses the question with the code of a missing capability.
  server.registerTool(
    'test_missing_capability',
    { description: 'Needs a client that can sample.' },
    () => inputRequired({ inputRequests: { greeting: ask('Generate a greeting', 50) } }),
  )
  server.registerTool(
    'test_streaming_elicitation',
    { description: 'Reports progress, then asks for input.' },
    async (context) => {
      await reportProgress(context, 1, 2)
      if (acceptedContent(context.mcpReq.inputResponses, 'user_name')) return text('Answered.')
      return inputRequired({ inputRequests: { user_name: askName } })
    },
  )

  function confirmWithState(answerText: string) {
    return async (context: ServerContext) => {
      const answer = acceptedContent<{ ok: boolean }>(context.mcpReq.inputResponses, 'confirm')
      if (answer?.ok === true && context.mcpReq.requestState<Round>()?.step === 1) {
        return text(answerText)
      }
      const requestState = await states.mint({ step: 1 }, context)
      return inputRequired({ inputRequests: { confirm: askConfirmation }, requestState })
    }
  }
}

export function askFor(message: string, property: string, type: 'string' | 'boolean') {
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { [property]: type === 'string' ? { type } : { type } },
      required: [property],
    },
  })
}

function ask(question: string, maxTokens: number) {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  })
}
