import type { ReactElement } from 'react'
import type { Reader } from './reader.ts'

/**
 * Shown while the bank has not answered yet. A script checks again and replaces the page only when there is a result. A page that
 * reloads on a timer would interrupt a person who is reading it.
 */
export function BankPending({ t }: Pick<Reader, 't'>): ReactElement {
  return (
    <>
      <p data-looks-again="yes">{t('shared:bankWaitedFor')}</p>
      <p>
        <a href="">{t('shared:bankCheckAgain')}</a>
      </p>
    </>
  )
}
