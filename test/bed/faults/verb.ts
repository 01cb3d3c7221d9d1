// What a request is to Kubernetes: its verb, told from method, path and query as the API server tells it.

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export function verbOf(method: string, url: string): Verb {
  const { pathname, searchParams } = new URL(url, 'https://any')
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return isCollection(pathname) ? 'deletecollection' : 'delete'
    default:
      if (!isCollection(pathname)) return 'get'
      return ['true', '1'].includes(searchParams.get('watch') ?? '') ? 'watch' : 'list'
  }
}

// /api/v1/… or /apis/GROUP/VERSION/…, then [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]].
function isCollection(path: string): boolean {
  const steps = path.split('/').filter(Boolean)
  const rest = steps[0] === 'api' ? steps.slice(2) : steps[0] === 'apis' ? steps.slice(3) : []
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2
  return (inNamespace ? rest.slice(2) : rest).length === 1
}
