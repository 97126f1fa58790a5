import type { ReactElement } from 'react'
import { ProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import type { Step } from './first-steps.ts'
import type { Demo } from './read-demo.ts'

export const demoPaths = { portal: '/demo/portal', checkout: '/demo/checkout' } as const

type FrontPageProps = {
  readonly frame: ProviderFrame
  readonly steps: readonly Step[]
  /** Present only in the standalone demo installation. */
  readonly demo: (Demo & { readonly formToken: string }) | undefined
  /** Whether the visitor may read mail to customers. */
  readonly hasInbox: boolean
}

/** The page at `/`. Anyone can read it, so for a production installation it shows only what the documentation contains. */
export function FrontPage({ frame, steps, demo, hasInbox }: FrontPageProps): ReactElement {
  return (
    <ProviderPage frame={frame} title="Usage metering and billing">
      <div className="stack">
        <h1>Tollgate runs here</h1>
        <p>
          Tollgate meters the usage of an API, an app or an MCP server, answers whether a call may
          go ahead under the plan of the customer, and bills for it.
        </p>
      </div>
      <section className="card" aria-labelledby="links">
        <h2 id="links">Where to go</h2>
        <ul>
          <li>
            <a href={`${frame.basePath}/docs`}>API reference</a>: every operation, as this
            installation serves it
          </li>
          <li>
            <a href={`${frame.basePath}/v1/openapi.json`}>OpenAPI description</a>: for generated
            clients
          </li>
          <li>
            <a href={`${frame.basePath}/console`}>Console</a>: sign in as a user of a provider
          </li>
          {hasInbox && (
            <li>
              <a href={`${frame.basePath}/inbox`}>Inbox</a>: the emails that customers would get
            </li>
          )}
        </ul>
        <Health demo={demo} />
      </section>
      {demo !== undefined && <DemoPages frame={frame} demo={demo} />}
      <section className="card" aria-labelledby="steps">
        <h2 id="steps">First steps</h2>
        {demo !== undefined && (
          <p className="quiet">
            They work as they are, with the sandbox key of the demo provider. Only browsers of this
            machine are shown it.
          </p>
        )}
        <ol className="steps">
          {steps.map((step) => (
            <li key={step.title}>
              <StepText step={step} />
            </li>
          ))}
        </ol>
      </section>
    </ProviderPage>
  )
}

function StepText({ step }: { readonly step: Step }): ReactElement {
  const { title, note, command } = step
  return (
    <div className="stack">
      <h3>{title}</h3>
      <p className="quiet">{note}</p>
      <div className="command" data-copied-as={title}>
        <code>{command}</code>
      </div>
    </div>
  )
}

/** Links to the readiness checks on the admin ports. Only the visitor of a demo is certainly on the same machine as these ports. */
function Health({ demo }: { readonly demo: Demo | undefined }): ReactElement {
  if (demo === undefined) {
    return (
      <p className="quiet">
        Health and metrics of each service are on its admin port, which is not public.
      </p>
    )
  }
  return (
    <>
      <h3>Health</h3>
      <ul className="links">
        {Object.entries(demo.healthUrls).map(([service, url]) => (
          <li key={service}>
            <a href={url}>{service}</a>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Buttons for hosted pages. A link to such a page opens once and expires, so each link is created when the visitor requests it. */
function DemoPages(props: {
  readonly frame: ProviderFrame
  readonly demo: Demo & { readonly formToken: string }
}): ReactElement {
  const { frame, demo } = props
  const { name } = demo.customer
  const buttons = [
    { path: demoPaths.portal, label: `Open the portal of ${name}` },
    { path: demoPaths.checkout, label: `Open a checkout for ${name}` },
  ]
  return (
    <section className="card" aria-labelledby="hosted">
      <h2 id="hosted">What customers see</h2>
      <p>
        {name} is a customer of the demo provider. Payments go to a simulator: card 4242 4242 4242
        4242 succeeds, nothing is charged.
      </p>
      <div className="actions">
        {buttons.map(({ path, label }) => (
          <form key={path} method="post" action={frame.basePath + path}>
            <input type="hidden" name="formToken" value={demo.formToken} />
            <button className="button" type="submit">
              {label}
            </button>
          </form>
        ))}
      </div>
    </section>
  )
}
