/** The entries whose statements rest on a material, in any of its versions (CO-38). */
import { Anchor, List, Paper, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { usePages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { entryPath, tabPath } from '../../app/paths'
import { Rows } from '../../ui/Rows'
import { Told } from '../../ui/Told'
import { CITING } from './queries'

export function CitingEntries({ source }: { source: string }) {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const pages = usePages(CITING, { owner: owner.id, source, after: null }, (data) => data.entries)
  return (
    <Paper withBorder p="md" component="section" aria-label={t('citing')}>
      <Title order={3} size="h5" mb="xs">
        {t('citing')}
      </Title>
      <Rows pages={pages} empty={t('noCiting')}>
        {(rows) => (
          <>
            <List>
              {rows.map((entry) => (
                <List.Item key={entry.id}>
                  <Anchor component={Link} to={entryPath(owner.id, entry.id)}>
                    <Told>{entry.name}</Told>
                  </Anchor>{' '}
                  ({entry.type})
                </List.Item>
              ))}
            </List>
            <Anchor
              component={Link}
              to={`${tabPath(owner.id, 'entries')}?cites=${encodeURIComponent(source)}`}
              size="sm"
            >
              {t('citingAll')}
            </Anchor>
          </>
        )}
      </Rows>
    </Paper>
  )
}
