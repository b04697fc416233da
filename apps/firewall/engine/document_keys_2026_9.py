"""Keys that OpenClaw 2026.9 reads in `openclaw.json`, by the path of their object; `known_keys` reads this table.

`*` in a path stands for any key, `[]` for any item of a list; `*` among the keys says that others are taken, too. Lines
that begin with blanks go on. An object that is not named here belongs to a plugin, or is checked by its shape.
Source: the schema of the configuration in the released package.
"""

from typing import Final

KEYS: Final = """\
: $schema accessGroups acp agents approvals attachments auth bindings broadcast browser channels cloudWorkers commands
  cron desktop diagnostics discovery env gateway hooks logging mcp memory messages meta models nodeHost plugins proxy
  secrets security session skills surfaces talk telemetry tools transcripts tts ui update wizard worktreeAcceleration
  worktreeRoot
accessGroups.*: channelId guildId members membership type
acp: allowedAgents backend defaultAgent dispatch enabled fallbacks runtime stream
acp.dispatch: enabled
acp.runtime: installCommand
acp.stream: deliveryMode repeatSuppression tagVisibility
agents: defaults entries ownership
agents.defaults: authInheritance blockStreamingBreak blockStreamingChunk blockStreamingCoalesce blockStreamingDefault
  bootstrapMaxChars bootstrapTotalMaxChars compaction contextInjection contextLimits contextPruning cwd decisionModel
  elevatedDefault embeddedAgent experimental fastModeDefault heartbeat humanDelay imageMaxDimensionPx imageModel
  imageQuality maxConcurrent mediaMaxMb mediaModels model modelPolicy models modelSelectionScope params pdfMaxMb
  pdfMaxPages pdfModel reasoningDefault repoRoot sandbox sessionStore silentReply skills skipBootstrap
  skipOptionalBootstrapFiles startupContext subagents systemAgent thinkingDefault timeoutSeconds toolProgressDetail
  typingIntervalSeconds typingMode userTimezone utilityModel verboseDefault voiceModel workspace
agents.defaults.authInheritance: agentId
agents.defaults.blockStreamingChunk: breakPreference maxChars minChars
agents.defaults.blockStreamingCoalesce: idleMs maxChars minChars
agents.defaults.compaction: enabled identifierPolicy keepRecentTokens maxActiveTranscriptBytes memoryFlush
  midTurnPrecheck mode model notifyUser postCompactionSections postIndexSync provider qualityGuard recentTurnsPreserve
  thinkingLevel timeoutSeconds
agents.defaults.compaction.memoryFlush: enabled forceFlushTranscriptBytes model softThresholdTokens
agents.defaults.compaction.midTurnPrecheck: enabled
agents.defaults.compaction.qualityGuard: enabled maxRetries
agents.defaults.contextLimits: memoryGetMaxChars postCompactionMaxChars
agents.defaults.contextPruning: hardClear mode tools ttl
agents.defaults.contextPruning.hardClear: enabled placeholder
agents.defaults.contextPruning.tools: allow deny
agents.defaults.embeddedAgent: cyberFailover executionContract projectSettingsPolicy
agents.defaults.embeddedAgent.cyberFailover: cooloffMs mode model
agents.defaults.experimental: localModelLean
agents.defaults.heartbeat: accountId activeHours agentId directPolicy every isolatedSession lightContext model prompt
  session target timeoutSeconds to
agents.defaults.heartbeat.activeHours: end start timezone
agents.defaults.humanDelay: maxMs minMs mode
agents.defaults.imageModel: fallbacks primary timeoutMs
agents.defaults.mediaModels: image music video
agents.defaults.mediaModels.image: fallbacks primary timeoutMs
agents.defaults.mediaModels.music: fallbacks primary timeoutMs
agents.defaults.mediaModels.video: fallbacks primary timeoutMs
agents.defaults.model: fallbacks primary
agents.defaults.modelPolicy: allow
agents.defaults.models.*: agentRuntime alias codeMode params pickerRuntimes streaming
agents.defaults.pdfModel: fallbacks primary timeoutMs
agents.defaults.sandbox: backend browser docker mode prune scope sessionToolsVisibility ssh workspaceAccess
  workspaceRoot
agents.defaults.sandbox.browser: allowHostControl autoStart autoStartTimeoutMs binds cdpPort cdpSourceRange
  containerPrefix enabled headless image network noVncEnabled noVncPort vncPort
agents.defaults.sandbox.docker: apparmorProfile binds capDrop containerPrefix cpus
  dangerouslyAllowContainerNamespaceJoin dangerouslyAllowExternalBindSources dangerouslyAllowReservedContainerTargets
  dns env extraHosts gpus image memory memorySwap network pidsLimit readOnlyRoot seccompProfile setupCommand tmpfs
  ulimits user workdir
agents.defaults.sandbox.prune: idleHours maxAgeDays
agents.defaults.sandbox.ssh: certificateData certificateFile command identityData identityFile knownHostsData
  knownHostsFile strictHostKeyChecking target updateHostKeys workspaceRoot
agents.defaults.sessionStore: agentId
agents.defaults.silentReply: group internal
agents.defaults.startupContext: applyOn dailyMemoryDays enabled maxFileBytes maxFileChars maxTotalChars
agents.defaults.subagents: allowAgents announceTimeoutMs archiveAfterMinutes delegationMode maxChildrenPerAgent
  maxConcurrent maxSpawnDepth model requireAgentId runTimeoutSeconds thinking
agents.defaults.subagents.model: fallbacks primary
agents.defaults.systemAgent: agentId
agents.defaults.voiceModel: fallbacks primary timeoutMs
agents.entries.*: agentDir bootstrapMaxChars bootstrapTotalMaxChars contextInjection contextLimits cwd decisionModel
  default description embeddedAgent experimental fastModeDefault groupChat heartbeat humanDelay identity memory model
  modelPolicy models name params reasoningDefault runtime sandbox skills skillsLimits subagents thinkingDefault
  toolProgressDetail tools tts typingMode utilityModel verboseDefault workspace
agents.entries.*.contextLimits: memoryGetMaxChars postCompactionMaxChars
agents.entries.*.embeddedAgent: executionContract
agents.entries.*.experimental: localModelLean
agents.entries.*.groupChat: historyLimit mentionPatterns unmentionedInbound
agents.entries.*.heartbeat: accountId activeHours directPolicy every isolatedSession lightContext model prompt session
  target timeoutSeconds to
agents.entries.*.humanDelay: maxMs minMs mode
agents.entries.*.identity: avatar emoji name theme
agents.entries.*.memory: search
agents.entries.*.model: fallbacks primary
agents.entries.*.modelPolicy: allow
agents.entries.*.runtime: acp type
agents.entries.*.sandbox: backend browser docker mode prune scope sessionToolsVisibility ssh workspaceAccess
  workspaceRoot
agents.entries.*.skillsLimits: maxSkillsPromptChars
agents.entries.*.subagents: allowAgents delegationMode model requireAgentId thinking
agents.entries.*.tools: allow alsoAllow byProvider codeMode deny elevated exec fs github loopDetection message profile
  sandbox swarm toolsBySender
agents.entries.*.tools.codeMode: enabled executor maxOutputBytes maxPendingToolCalls maxSearchLimit maxSnapshotBytes
  memoryLimitBytes mode searchDefaultLimit snapshotTtlSeconds timeoutMs
agents.entries.*.tools.elevated: allowFrom enabled
agents.entries.*.tools.exec: applyPatch approvalRunningNoticeMs ask backgroundMs cleanupMs commandHighlighting
  grantExpiryDays host mode node notifyOnExit notifyOnExitEmptySuccess pathPrepend reviewer safeBinProfiles safeBins
  safeBinTrustedDirs security strictInlineEval timeoutSeconds
agents.entries.*.tools.exec.applyPatch: allowModels enabled workspaceOnly
agents.entries.*.tools.exec.reviewer: fastMode model thinking timeoutMs
agents.entries.*.tools.fs: workspaceOnly
agents.entries.*.tools.github: gitAuthor kind profileId
agents.entries.*.tools.github.gitAuthor: email name
agents.entries.*.tools.loopDetection: enabled
agents.entries.*.tools.message: actions broadcast crossContext
agents.entries.*.tools.message.actions: allow
agents.entries.*.tools.message.broadcast: enabled
agents.entries.*.tools.message.crossContext: allowAcrossProviders allowWithinProvider marker
agents.entries.*.tools.sandbox: tools
agents.entries.*.tools.sandbox.tools: allow alsoAllow deny
agents.entries.*.tools.swarm: defaultAgentId enabled maxChildrenPerGroup maxConcurrent maxTotalPerGroup
  waitTimeoutSecondsMax
agents.entries.*.tts: auto enabled maxTextLength mode modelOverrides persona personas prefsPath provider providers
  summaryModel timeoutMs
approvals: exec plugin
approvals.exec: agentFilter enabled mode sessionFilter targets
approvals.exec.targets.[]: accountId channel threadId to
approvals.plugin: agentFilter enabled mode sessionFilter targets
approvals.plugin.targets.[]: accountId channel threadId to
attachments: ttlHours
auth: order profiles
auth.profiles.*: displayName email mode provider
bindings.[]: acp agentId comment match session type
bindings.[].acp: backend cwd label mode
bindings.[].match: accountId channel guildId peer roles teamId
bindings.[].session: dmScope groupScope
broadcast: * strategy
browser: allowSystemProfileImport attachOnly cdpUrl defaultProfile enabled evaluateEnabled executablePath
  extensionRelay extraArgs headless noSandbox profiles snapshotDefaults ssrfPolicy tabCleanup
browser.extensionRelay: allowLegacyAuth
browser.profiles.*: attachOnly cdpPort cdpUrl driver executablePath headless mcpArgs mcpCommand userDataDir
browser.snapshotDefaults: mode
browser.ssrfPolicy: allowedHostnames allowIpv6UniqueLocalRange allowRfc2544BenchmarkRange blockedHostnames
  dangerouslyAllowPrivateNetwork
browser.tabCleanup: enabled
channels: * defaults modelByChannel telegram
channels.defaults: botLoopProtection contextVisibility groupPolicy heartbeatVisibility implicitMentions
channels.defaults.botLoopProtection: cooldownSeconds enabled maxEventsPerWindow windowSeconds
channels.defaults.implicitMentions: quotedBot replyToBot threadParticipation
channels.telegram: accounts ackReaction actions allowFrom apiRoot autoTopicLabel botToken capabilities commands
  configWrites contextVisibility customCommands defaultAccount defaultTo direct dmHistoryLimit dmPolicy dms enabled
  errorPolicy execApprovals groupAllowFrom groupPolicy groups healthMonitor heartbeatVisibility historyLimit joinIntro
  linkPreview markdown mediaMaxMb mentionPatterns name network proxy reactionLevel reactionNotifications replyToMode
  responsePrefix richMessages silentErrorReplies streaming textChunkLimit threadBindings tokenFile
  trustedLocalFileRoots webhookCertPath webhookHost webhookPath webhookPort webhookSecret webhookUrl
channels.telegram.autoTopicLabel: enabled prompt
channels.telegram.capabilities: inlineButtons
channels.telegram.commands: native nativeSkills
channels.telegram.customCommands.[]: command description
channels.telegram.direct.*: allowFrom autoTopicLabel dmPolicy enabled errorPolicy requireTopic skills systemPrompt
  tools toolsBySender topics
channels.telegram.direct.*.autoTopicLabel: enabled prompt
channels.telegram.direct.*.topics.*: agentId allowFrom disableAudioPreflight enabled errorPolicy groupPolicy ingest
  requireMention skills systemPrompt
channels.telegram.dms.*: historyLimit
channels.telegram.execApprovals: agentFilter approvers enabled sessionFilter target
channels.telegram.groups.*: allowFrom disableAudioPreflight enabled errorPolicy groupPolicy ingest requireMention
  skills systemPrompt tools toolsBySender topics
channels.telegram.groups.*.topics.*: agentId allowFrom disableAudioPreflight enabled errorPolicy groupPolicy ingest
  requireMention skills systemPrompt
channels.telegram.healthMonitor: enabled
channels.telegram.mentionPatterns: allowIn denyIn mode
channels.telegram.threadBindings: defaultSpawnContext enabled idleHours maxAgeHours spawnSessions
cloudWorkers: desktop preparedPool profiles projectProfiles
cloudWorkers.preparedPool: maxTotal
cloudWorkers.profiles.*: install provider readyWorkers settings suspendAfter
commands: allowFrom bash bashForegroundMs config debug mcp native nativeSkills ownerAllowFrom plugins restart text
cron: enabled failureAlert sessionRetention skipMissedJobs triggers webhookSsrfPolicy webhookToken
cron.failureAlert: accountId after channel cooldownMs enabled includeSkipped mode to
cron.triggers: enabled
cron.webhookSsrfPolicy: allowedHostnames allowIpv6UniqueLocalRange allowRfc2544BenchmarkRange blockedHostnames
  dangerouslyAllowPrivateNetwork
desktop: host
desktop.host: enabled managed passwordFile port
diagnostics: cacheTrace enabled flags otel
diagnostics.cacheTrace: enabled
diagnostics.otel: captureContent enabled endpoint flushIntervalMs headers logs logsEndpoint logsExporter
  metricNamePrefix metrics metricsEndpoint protocol sampleRate serviceName traces tracesEndpoint
discovery: mdns wideArea
discovery.mdns: mode
discovery.wideArea: domain
env: shellEnv vars
env.shellEnv: enabled timeoutMs
gateway: allowRealIpFallback auth bind cliAgents controlUi customBindHost http mode nodes port portals publicOrigin
  push reload remote roles tailscale terminal tls tools trustedProxies
gateway.auth: allowTailscale identityScopes mode password rateLimit token trustedProxy
gateway.auth.rateLimit: exemptLoopback lockoutMs maxAttempts windowMs
gateway.auth.trustedProxy: allowLoopback allowUsers cloudflareAccessOidc deviceAutoApprove requiredHeaders userHeader
gateway.cliAgents: enabled
gateway.controlUi: allowedOrigins allowExternalEmbedUrls automaticallyFetchFavicons basePath communityInvite
  dangerouslyAllowHostHeaderOriginFallback dangerouslyDisableDeviceAuth embedSandbox enabled environment experimental
  github root sessionObserver
gateway.controlUi.environment: color label
gateway.controlUi.experimental: customPlugins
gateway.controlUi.github: token
gateway.http: endpoints securityHeaders
gateway.http.endpoints: chatCompletions responses
gateway.http.securityHeaders: strictTransportSecurity
gateway.nodes: allowSkills browser commands pairing pluginTools
gateway.nodes.browser: mode node
gateway.nodes.commands: allow deny
gateway.nodes.pairing: autoApproveCidrs autoApproveLocal sshVerify
gateway.nodes.pluginTools: enabled
gateway.portals: ingress
gateway.portals.ingress: domain port
gateway.push: apns
gateway.push.apns: relay
gateway.reload: mode
gateway.remote: edgeAuth password remotePort sshHostKeyPolicy sshIdentity sshTarget tlsFingerprint token transport url
gateway.roles: default definitions
gateway.tailscale: mode preserveFunnel
gateway.terminal: detachedSessionTimeoutSeconds enabled shell
gateway.tls: * autoGenerate caPath certPath enabled keyPath
gateway.tools: allow deny
hooks: allowedAgentIds allowedSessionKeyPrefixes allowRequestSessionKey defaultSessionKey enabled gmail internal
  mappings path presets token transformsDir
hooks.gmail: account allowUnsafeExternalContent hookUrl includeBody label maxBytes model pushToken renewEveryMinutes
  serve subscription tailscale thinking topic
hooks.gmail.serve: bind path port
hooks.gmail.tailscale: mode path target
hooks.internal: enabled entries load
hooks.internal.load: extraDirs
hooks.mappings.[]: action agentId allowUnsafeExternalContent channel deliver forEach id match messageTemplate model
  name sessionKey sessionMode textTemplate thinking timeoutSeconds to transform wakeMode
logging: audit consoleLevel consoleStyle file level maxFileBytes redactPatterns
logging.audit: enabled executionIdentity messages
mcp: apps servers sessionIdleTtlMs
mcp.apps: enabled sandboxOrigin sandboxPort
mcp.servers.*: * args auth clientCert clientKey codex command connectionTimeoutMs cwd enabled env headers oauth
  requestTimeoutMs sslVerify supportsParallelToolCalls toolFilter transport url
memory: citations search
memory.search: cache documentInputType enabled experimental extraPaths fallback inputType local model multimodal
  outputDimensionality provider query queryInputType rememberAcrossConversations remote sources store
memory.search.cache: enabled
memory.search.experimental: sessionMemory
memory.search.local: modelPath
memory.search.multimodal: enabled maxFileBytes modalities
memory.search.query: maxResults minScore
memory.search.remote: apiKey baseUrl batch headers
memory.search.store: fts vector
messages: ackReaction ackReactionScope groupChat inbound queue responsePrefix responseUsage statusReactions
  usageTemplate visibleReplies
messages.groupChat: historyLimit mentionPatterns unmentionedInbound visibleReplies
messages.inbound: byChannel debounceMs
messages.queue: byChannel cap debounceMsByChannel drop mode
messages.queue.byChannel: discord googlechat imessage irc matrix mattermost msteams signal slack telegram webchat
  whatsapp
messages.statusReactions: enabled
meta: lastTouchedVersion migrations
meta.migrations: modelPolicyAllowlist utilityModelSeparation
models: catalogRefresh mode providers
models.catalogRefresh: enabled url
models.providers.*: agentRuntime api apiKey auth authHeader baseUrl headers injectNumCtxForOpenAICompat localService
  maxTokens models params region request timeoutSeconds
nodeHost: agentRuns autoUpdate browserProxy mcp skills workerRuns
nodeHost.agentRuns: claude
nodeHost.agentRuns.claude: enabled
nodeHost.autoUpdate: enabled
nodeHost.browserProxy: allowProfiles enabled
nodeHost.mcp: servers
nodeHost.skills: enabled
nodeHost.workerRuns: capacity containerImage enabled isolation
plugins: allow deny enabled entries load slots
plugins.entries.*: config enabled hooks llm subagent
plugins.load: paths
plugins.slots: contextEngine memory
proxy: enabled loopbackMode proxyUrl tls
proxy.tls: caFile
secrets: defaults egressProxy providers
secrets.defaults: env exec file store
secrets.egressProxy: allowedHosts bypassHosts enabled
secrets.providers: *
security: audit installPolicy
security.audit: suppressions
security.installPolicy: enabled exec targets
security.installPolicy.exec: args command env maxOutputBytes noOutputTimeoutMs passEnv source timeoutMs trustedDirs
session: dmScope groupScope identityLinks mainKey maintenance notifyOnCreate reset resetByChannel resetByType
  resetTriggers scope sendPolicy sharing store threadBindings
session.maintenance: archiveDashboardAfter coldStorage highWaterBytes maxDiskBytes maxEntries mode preserveRecent
  pruneAfter resetArchiveRetention
session.maintenance.coldStorage: afterDays enabled
session.reset: atHour idleMinutes mode
session.resetByChannel.*: atHour idleMinutes mode
session.resetByType: direct group thread
session.resetByType.direct: atHour idleMinutes mode
session.resetByType.group: atHour idleMinutes mode
session.resetByType.thread: atHour idleMinutes mode
session.sendPolicy: default rules
session.sharing: drafts readOnly suggest
session.threadBindings: defaultSpawnContext enabled idleHours maxAgeHours spawnSessions
skills: allowBundled entries install limits load workshop
skills.entries.*: apiKey config enabled env
skills.install: allowUploadedArchives nodeManager preferBrew
skills.limits: maxCandidatesPerRoot maxSkillFileBytes maxSkillsInPrompt maxSkillsLoadedPerSource maxSkillsPromptChars
skills.load: allowSymlinkTargets extraDirs watch
skills.workshop: approvalPolicy autonomous maxPending maxSkillBytes
skills.workshop.autonomous: mode
surfaces.*: silentReply
surfaces.*.silentReply: group internal
talk: agentId consultFastMode consultThinkingLevel interruptOnSpeech provider providers realtime silenceTimeoutMs
  speechLocale
talk.providers.*: * apiKey
talk.realtime: brain consultRouting instructions mode model prefixPaddingMs provider providers reasoningEffort
  silenceDurationMs speakerVoice speakerVoiceId transport vadThreshold
telemetry: consentedAt enabled
tools: agentToAgent allow alsoAllow byProvider codeMode deny elevated exec fs github links loopDetection media message
  profile sandbox sessions sessions_spawn subagents swarm toolsBySender toolSearch updatePlan web
tools.agentToAgent: allow enabled
tools.codeMode: enabled executor maxOutputBytes maxPendingToolCalls maxSearchLimit maxSnapshotBytes memoryLimitBytes
  mode searchDefaultLimit snapshotTtlSeconds timeoutMs
tools.elevated: allowFrom enabled
tools.exec: applyPatch approvalRunningNoticeMs ask backgroundMs cleanupMs commandHighlighting grantExpiryDays host
  mode node notifyOnExit notifyOnExitEmptySuccess pathPrepend reviewer safeBinProfiles safeBins safeBinTrustedDirs
  security strictInlineEval timeoutSeconds
tools.exec.applyPatch: allowModels enabled workspaceOnly
tools.exec.reviewer: fastMode model thinking timeoutMs
tools.exec.reviewer.model: fallbacks primary
tools.fs: workspaceOnly
tools.github: gitAuthor kind profileId
tools.github.gitAuthor: email name
tools.links: enabled maxLinks models scope timeoutSeconds
tools.links.scope: default rules
tools.loopDetection: enabled
tools.media: audio concurrency image models video
tools.media.audio: attachments baseUrl echoFormat echoTranscript enabled headers language maxBytes maxChars
  preferredModel prompt providerOptions request scope timeoutSeconds
tools.media.image: attachments baseUrl enabled headers language maxBytes maxChars preferredModel prompt
  providerOptions request scope timeoutSeconds
tools.media.video: attachments baseUrl enabled headers language maxBytes maxChars preferredModel prompt
  providerOptions request scope timeoutSeconds
tools.message: actions broadcast crossContext
tools.message.actions: allow
tools.message.broadcast: enabled
tools.message.crossContext: allowAcrossProviders allowWithinProvider marker
tools.message.crossContext.marker: enabled prefix suffix
tools.sandbox: tools
tools.sandbox.tools: allow alsoAllow deny
tools.sessions: visibility
tools.sessions_spawn: attachments
tools.sessions_spawn.attachments: enabled maxFileBytes maxFiles maxTotalBytes retainOnSessionKeep
tools.subagents: tools
tools.subagents.tools: allow alsoAllow deny
tools.swarm: defaultAgentId enabled maxChildrenPerGroup maxConcurrent maxTotalPerGroup waitTimeoutSecondsMax
tools.web: fetch search
tools.web.fetch: cacheTtlMinutes enabled headers maxChars maxCharsCap maxRedirects maxResponseBytes provider
  readability ssrfPolicy timeoutSeconds userAgent useTrustedEnvProxy
tools.web.search: * cacheTtlMinutes enabled maxResults openaiCodex provider timeoutSeconds
transcripts: autoStart enabled
transcripts.autoStart.[]: accountId channelId guildId meetingUrl providerId sessionId title whenOccupied
tts: auto enabled maxTextLength mode modelOverrides persona personas provider providers summaryModel timeoutMs
tts.modelOverrides: allowModelId allowNormalization allowProvider allowSeed allowText allowVoice allowVoiceSettings
  enabled
tts.personas.*: description fallbackPolicy label provider providers
tts.providers.*: * apiKey
ui: prefs seamColor
ui.prefs: accent chatFollowUpMode chatPersistCommentary chatSendShortcut chatShowThinking chatShowToolCalls locale
  sidebarEntries theme themeMode
update: auto channel checkOnStart
update.auto: enabled
wizard: accessMode appRecommendations lastRunAt lastRunCommand lastRunCommit lastRunMode lastRunVersion
  securityAcknowledgedAt
"""
