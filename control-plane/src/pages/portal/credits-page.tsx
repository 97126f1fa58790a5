import type { ReactElement } from 'react'
import { displayMinor } from '@tollgate/domain/money/credits'
import { toFraction } from '@tollgate/domain/money/exchange-rates'
import type { WalletMovement } from '@tollgate/domain/wallet/list-movements'
import { wholeCredits } from '@tollgate/domain/wallet/whole-credits'
import type { Formats } from '../formats.ts'
import { PostForm } from '../post-form.tsx'
import { movementsPerPage, type CreditsView } from './credits-view.ts'
import { AutoRechargeForm, type AutoRechargeFields } from './auto-recharge-form.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'

type CreditsPageProps = {
  readonly portal: Portal
  readonly view: CreditsView
  /** What was typed, where it could not be had. */
  readonly typed: AutoRechargeFields | undefined
  readonly notice: Notice | undefined
}

export function CreditsPage({ portal, view, typed, notice }: CreditsPageProps): ReactElement {
  const { formats } = portal.frame
  const { leftMicros, displayRate } = view
  const credits = wholeCredits(leftMicros)
  const { currency } = displayRate
  const worthMinor = displayMinor(BigInt(credits), currency, toFraction(displayRate))
  return (
    <PortalPage portal={portal} section="credits" title="Credits" notice={notice}>
      <h1>Credits</h1>
      <section className="card" aria-label="Balance">
        <p className="figure">{`${formats.count(credits)} credits`}</p>
        <p className="quiet">{`worth ${formats.money(worthMinor, currency)}`}</p>
        <PostForm page={portal} path="/top-up">
          <div className="actions">
            <button className="button main" type="submit">
              Buy credits
            </button>
          </div>
        </PostForm>
      </section>
      <AutoRechargeForm portal={portal} view={view} typed={typed} />
      <Movements portal={portal} view={view} formats={formats} />
    </PortalPage>
  )
}

/** What the ledger calls a movement, for its customer. */
const kindWords: Readonly<Partial<Record<WalletMovement['kind'], string>>> = {
  grant: 'Credits added',
  top_up: 'Credits bought',
  adjustment: 'Adjustment',
  usage: 'Usage',
  expiry: 'Expired',
  write_off: 'Account closed',
}

type MovementsProps = {
  readonly portal: Portal
  readonly view: CreditsView
  readonly formats: Formats
}

function Movements({ portal, view, formats }: MovementsProps): ReactElement {
  const { movements, total, pageNumber } = view
  if (movements.length === 0) {
    return (
      <section className="card">
        <h2>Movements</h2>
        <p className="quiet">Nothing has been added or used yet.</p>
      </section>
    )
  }
  return (
    <section className="card">
      <h2>Movements</h2>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col" className="number">
                Credits
              </th>
            </tr>
          </thead>
          <tbody>
            {movements.map(({ reference, kind, reason, createdAt, amountMicros }) => (
              <tr key={reference}>
                <td>
                  <time dateTime={createdAt.toISOString()}>{formats.dateTime(createdAt)}</time>
                </td>
                <td>{reason ?? kindWords[kind] ?? kind.replaceAll('_', ' ')}</td>
                <td className="number">{formats.change(Number(amountMicros) / 1_000_000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pages path={`${portal.path}/credits`} pageNumber={pageNumber} total={total} />
    </section>
  )
}

type PagesProps = { readonly path: string; readonly pageNumber: number; readonly total: number }

function Pages({ path, pageNumber, total }: PagesProps): ReactElement | null {
  const last = Math.ceil(total / movementsPerPage)
  if (last <= 1) return null
  return (
    <nav className="row spread" aria-label="Pages of movements">
      {pageNumber > 1 ? <a href={`${path}?page=${pageNumber - 1}`}>← Newer</a> : <span />}
      <span className="quiet">{`Page ${pageNumber} of ${last}`}</span>
      {pageNumber < last ? <a href={`${path}?page=${pageNumber + 1}`}>Older →</a> : <span />}
    </nav>
  )
}
