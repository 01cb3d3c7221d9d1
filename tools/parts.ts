// The real parts: which programs and manifests the bed runs, and how each is made from its pinned Go module.
// Data only. A version stands in one place, the go.mod of the part's module.

export interface Part {
  readonly what: string
  readonly module: string // a folder beside this file, with go.mod and go.sum
  readonly pin: string // the Go module whose version is the part's version
  readonly recipe: Recipe
  readonly quickstart: boolean
  readonly coldSeconds: number // measured on two cores, all parts before it built; only the estimate uses it
}

export type Recipe = Program | Kustomization | Files

export interface Program {
  readonly from: 'package'
  readonly package: string
  readonly stamps: (version: string) => Readonly<Record<string, string>> // set by the linker: what a release would say of itself
  readonly tellsVersion: readonly string[] | 'by build info' // its arguments; or what the Go compiler wrote into it
}

// A folder of the pinned module, rendered by the kubectl of this list: JSON documents with `---` between them.
export interface Kustomization {
  readonly from: 'kustomization'
  readonly folder: string
}

// The YAML files of a folder of the pinned module, put into one.
export interface Files {
  readonly from: 'files'
  readonly folder: string
}

// In the order they are built: what the quickstart needs comes first.
export const parts = {
  etcd: {
    what: 'the store behind every API server',
    module: 'etcd',
    pin: 'go.etcd.io/etcd/server/v3',
    recipe: {
      from: 'package',
      package: 'go.etcd.io/etcd/server/v3',
      stamps: () => ({}),
      tellsVersion: ['--version'],
    },
    quickstart: true,
    coldSeconds: 56,
  },
  'kube-apiserver': kubernetes('kube-apiserver', 'the management API server, and every workload one', 270),
  kubectl: kubernetes('kubectl', 'the hands of the bed and of people', 34, ['version', '--client']),
  'kube-controller-manager': kubernetes(
    'kube-controller-manager',
    'garbage collection, namespaces, service account tokens',
    88,
  ),
  'cluster-api-core': clusterApi('core', 'the controllers and webhooks of Cluster API', 146, 'by build info'),
  'cluster-api-core.yaml': {
    what: "Cluster API core's CRDs, roles and webhook configurations",
    module: 'cluster-api',
    pin: 'sigs.k8s.io/cluster-api',
    recipe: { from: 'kustomization', folder: 'core/config/default' },
    quickstart: true,
    coldSeconds: 1,
  },
  clusterctl: clusterApi('cmd/clusterctl', 'shows, installs and moves clusters', 16, ['version', '-o', 'short']),
  tofu: {
    what: 'OpenTofu, which runs Terraform modules',
    module: 'opentofu',
    pin: 'github.com/opentofu/opentofu',
    recipe: {
      from: 'package',
      package: 'github.com/opentofu/opentofu/cmd/tofu',
      stamps: () => ({ 'github.com/opentofu/opentofu/version.dev': 'no' }),
      tellsVersion: ['version'],
    },
    quickstart: true,
    coldSeconds: 264,
  },
  'cert-manager-crds.yaml': {
    what: "cert-manager's CRDs, which clusterctl init asks for",
    module: 'cert-manager',
    pin: 'github.com/cert-manager/cert-manager',
    recipe: { from: 'files', folder: 'deploy/crds' },
    quickstart: false,
    coldSeconds: 3,
  },
} as const satisfies Record<string, Part>

export type PartName = keyof typeof parts

function kubernetes(program: string, what: string, coldSeconds: number, tellsVersion = ['--version']): Part {
  return {
    what,
    module: 'kubernetes',
    pin: 'k8s.io/kubernetes',
    recipe: {
      from: 'package',
      package: `k8s.io/kubernetes/cmd/${program}`,
      // Cluster API core refuses servers whose version looks too old, and unstamped ones say v0.0.0.
      stamps: (version) => gitVersion('k8s.io/component-base/version', version),
      tellsVersion,
    },
    quickstart: true,
    coldSeconds,
  }
}

function clusterApi(path: string, what: string, coldSeconds: number, tellsVersion: Program['tellsVersion']): Part {
  return {
    what,
    module: 'cluster-api',
    pin: 'sigs.k8s.io/cluster-api',
    recipe: {
      from: 'package',
      package: `sigs.k8s.io/cluster-api/${path}`,
      stamps: (version) => gitVersion('sigs.k8s.io/cluster-api/version', version),
      tellsVersion,
    },
    quickstart: true,
    coldSeconds,
  }
}

function gitVersion(goPackage: string, version: string): Record<string, string> {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.')
  return {
    [`${goPackage}.gitVersion`]: version,
    [`${goPackage}.gitMajor`]: major,
    [`${goPackage}.gitMinor`]: minor,
  }
}
