import type { ReactElement } from 'react'
import { CodeBlock } from './code-block.tsx'
import { codeSamples } from './code-samples.ts'
import {
  resolveResponse,
  type ApiDescription,
  type MediaType,
  type Operation,
  type PlacedOperation,
} from './description-document.ts'
import { InlineMarkdown } from './markdown.tsx'
import { Field, SchemaFields } from './schema-fields.tsx'

export type OperationProps = {
  readonly description: ApiDescription
  readonly placed: PlacedOperation
  /** Address of the installation, for the samples. */
  readonly address: string
  /** Path of the page with the error codes. */
  readonly errorsPath: string
}

const keyNames: Readonly<Record<string, string>> = {
  secretKey: 'a secret key',
  apiKey: 'the `X-API-Key` header',
  accessToken: 'a console access token',
  pollToken: 'the poll token of the session',
}

/** Shows one operation, or one event that webhooks send. */
export function OperationSection(props: OperationProps): ReactElement {
  const { description, placed } = props
  const { method, path, operation } = placed
  const isEvent = method === 'event'
  return (
    <section
      className="operation"
      id={operation.operationId}
      aria-labelledby={headingOf(operation)}
    >
      <h2 id={headingOf(operation)}>{isEvent ? path : operation.summary}</h2>
      {!isEvent && (
        <p className="path">
          <span className={`method ${method}`}>{method.toUpperCase()}</span> <code>{path}</code>
        </p>
      )}
      <p>
        <InlineMarkdown text={isEvent ? operation.summary : (operation.description ?? '')} />
      </p>
      {!isEvent && <Access operation={operation} />}
      <div className="halves">
        <div className="stack">
          <Parameters description={description} operation={operation} />
          <RequestBody description={description} operation={operation} isEvent={isEvent} />
        </div>
        <div className="stack">
          {isEvent ? <Payload operation={operation} /> : <Samples {...props} />}
        </div>
      </div>
      {!isEvent && <Responses {...props} />}
    </section>
  )
}

function headingOf({ operationId }: Operation): string {
  return `${operationId}-heading`
}

function Access({ operation }: { readonly operation: Operation }): ReactElement {
  const names = (operation.security ?? []).flatMap((each) => Object.keys(each))
  if (names.length === 0) return <p className="quiet small">Needs no key.</p>
  return (
    <p className="quiet small">
      <InlineMarkdown
        text={`Authorization: ${names.map((name) => keyNames[name] ?? name).join(' or ')}.`}
      />
    </p>
  )
}

type PartProps = { readonly description: ApiDescription; readonly operation: Operation }

function Parameters({ description, operation }: PartProps): ReactElement | null {
  const { parameters = [] } = operation
  if (parameters.length === 0) return null
  const places = ['path', 'query', 'header'] as const
  return (
    <>
      {places.map((place) => {
        const own = parameters.filter((parameter) => parameter.in === place)
        if (own.length === 0) return null
        return (
          <div key={place}>
            <h3>
              {{ path: 'Path parameters', query: 'Query parameters', header: 'Headers' }[place]}
            </h3>
            <ul className="fields-list">
              {own.map((parameter) => (
                <Field
                  key={parameter.name}
                  name={parameter.name}
                  isRequired={parameter.required === true}
                  description={description}
                  schema={parameter.schema}
                  depth={0}
                  words={parameter.description}
                />
              ))}
            </ul>
          </div>
        )
      })}
    </>
  )
}

function RequestBody({
  description,
  operation,
  isEvent,
}: PartProps & { readonly isEvent: boolean }): ReactElement | null {
  const { requestBody } = operation
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type === undefined) return null
  return (
    <div>
      <h3>{isEvent ? 'Payload' : 'Request body'}</h3>
      <p className="quiet small">
        <code>{Object.keys(requestBody?.content ?? {}).join(', ')}</code>
        {requestBody?.required === false && ', optional'}
      </p>
      {media?.schema !== undefined && (
        <SchemaFields description={description} schema={media.schema} />
      )}
    </div>
  )
}

function Payload({ operation }: { readonly operation: Operation }): ReactElement {
  const media = operation.requestBody?.content['application/json']
  return <Examples media={media} isOpen />
}

function Samples({ placed, address }: OperationProps): ReactElement {
  return (
    <div>
      <h3>Example request</h3>
      {codeSamples(placed, address).map(({ language, code }, index) => (
        <details key={language} open={index === 0} name={`${placed.operation.operationId}-sample`}>
          <summary>{language}</summary>
          <CodeBlock name={language} code={code} />
        </details>
      ))}
    </div>
  )
}

function Responses({ description, placed, errorsPath }: OperationProps): ReactElement {
  const responses = Object.entries(placed.operation.responses).map(([status, response]) => ({
    status,
    response: resolveResponse(description, response),
  }))
  return (
    <div>
      <h3>Responses</h3>
      {responses.map(({ status, response }) => {
        const [type, media] = Object.entries(response.content ?? {})[0] ?? []
        const isSuccess = status.startsWith('2')
        return (
          <details key={status}>
            <summary>
              <span className={isSuccess ? 'status' : 'status refusal'}>{status}</span>{' '}
              {response.description}
            </summary>
            <div className="halves">
              <div className="stack">
                {type !== undefined && type !== 'application/json' && <code>{type}</code>}
                {media?.schema !== undefined && (
                  <SchemaFields description={description} schema={media.schema} />
                )}
                {!isSuccess && (
                  <p className="small">
                    <a href={errorsPath}>All error codes</a>
                  </p>
                )}
              </div>
              <div className="stack">
                <Examples media={media} isOpen={isSuccess} />
              </div>
            </div>
          </details>
        )
      })}
    </div>
  )
}

function Examples({
  media,
  isOpen,
}: {
  readonly media: MediaType | undefined
  /** Whether the first example is shown unfolded. */
  readonly isOpen: boolean
}): ReactElement {
  return (
    <>
      {Object.entries(media?.examples ?? {}).map(([name, { value }], index) => (
        <details key={name} open={isOpen && index === 0}>
          <summary className="small">Example: {name}</summary>
          <CodeBlock name="example" code={JSON.stringify(value, null, 2)} />
        </details>
      ))}
    </>
  )
}
