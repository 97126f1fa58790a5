import type { ReactElement } from 'react'
import { userCodeOf, type CliSession } from '@tollgate/domain/console/cli-sessions'
import type { Provider } from '@tollgate/domain/providers/repository'
import { formatsFor } from '../formats.ts'
import { ProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import { SignedInLine } from './signed-in-line.tsx'
import type { ConsoleVisitor } from './console-session.ts'

type CliPageProps = {
  readonly frame: ProviderFrame
  readonly visitor: ConsoleVisitor
  readonly provider: Provider
  readonly cliSession: CliSession
  readonly now: Date
}

export const cliPagePath = '/console/cli'

/**
 * The page on which a user approves or denies a command line. A stranger could send such a link to anyone, so the page shows facts
 * by which the user can recognize the user's own terminal.
 */
export function CliPage(props: CliPageProps): ReactElement {
  const { frame, visitor, provider, cliSession, now } = props
  const { sessionId, device, address, createdAt } = cliSession
  const path = `${frame.basePath}${cliPagePath}/${sessionId}`
  const facts = [
    ['Device, as it names itself', device ?? 'Unknown'],
    ['Network address', address],
    ['Asked', `${agoText(now, createdAt)} (${formatsFor(undefined).dateTime(createdAt)})`],
  ]
  return (
    <ProviderPage frame={frame} title="Approve a command line" narrow>
      <div className="card">
        <h1>A command line asks for a secret key of {provider.name}</h1>
        <p>Compare the code with the end of the link in your terminal:</p>
        <p className="figure code">{userCodeOf(sessionId)}</p>
        <dl className="facts stacked">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <p className="notice warning">
          Approve only if you started this yourself. Whoever has the key can act for {provider.name}
          .
        </p>
        <form method="post" action={`${path}/approve`}>
          <input type="hidden" name="formToken" value={visitor.formToken} />
          <fieldset className="stack">
            <legend>Environment of the key</legend>
            <label className="check">
              <input type="radio" name="environment" value="sandbox" defaultChecked />
              Sandbox: test data, nothing is charged
            </label>
            {provider.isLive && (
              <label className="check">
                <input type="radio" name="environment" value="live" />
                Live: real customers and real money
              </label>
            )}
          </fieldset>
          <div className="actions">
            <button className="button main" type="submit">
              Approve
            </button>
            <button className="button" type="submit" formAction={`${path}/decline`}>
              Decline
            </button>
          </div>
        </form>
      </div>
      <SignedInLine frame={frame} visitor={visitor} />
    </ProviderPage>
  )
}

function agoText(now: Date, then: Date): string {
  const minutes = Math.floor((now.getTime() - then.getTime()) / 60_000)
  if (minutes < 1) return 'Less than a minute ago'
  return minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`
}

export function CliAnsweredPage(props: {
  readonly frame: ProviderFrame
  readonly isApproved: boolean
}): ReactElement {
  const { frame, isApproved } = props
  const title = isApproved ? 'Approved' : 'Declined'
  return (
    <ProviderPage frame={frame} title={title} narrow>
      <div className="card centred">
        {isApproved && (
          <span className="tick" aria-hidden="true">
            ✓
          </span>
        )}
        <h1>{title}</h1>
        <p>
          {isApproved
            ? 'Your terminal fetches the key now. You can close this window.'
            : 'No key was issued. You can close this window.'}
        </p>
      </div>
    </ProviderPage>
  )
}
