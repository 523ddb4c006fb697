//! Gathering what a checkpoint has for each layer, before any of it is read.

use std::collections::BTreeMap;

use crate::checkpoint::{
    CheckpointError, FindingCode, Findings, LayerIndex, ModelFolder, NameClass, NameFormat, Refusal, Role,
    ScaleName, SidecarNumber, TensorParallel, classify, is_all_zero,
};

/// One place that a scale may come from.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The tensor's name, or a sidecar's file and key.
    pub(super) name: String,
    pub(super) reading: Reading,
}

/// How a source is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    Tensor { shard: usize, tensor: usize, format: NameFormat },
    Sidecar(SidecarNumber),
}

impl Source {
    /// The order in which equal sources are named.
    pub(super) fn precedence(&self) -> u8 {
        match self.reading {
            Reading::Tensor { format, .. } => format.precedence(),
            Reading::Sidecar(_) => u8::MAX,
        }
    }
}

/// Everything that is there for one layer.
#[derive(Debug, Default)]
pub(super) struct LayerSources {
    by_role: BTreeMap<Role, Vec<Source>>,
}

impl LayerSources {
    pub(super) fn of(&self, role: Role) -> &[Source] {
        self.by_role.get(&role).map_or(&[], Vec::as_slice)
    }

    /// The names of all sources.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_role.values().flatten().map(|source| source.name.as_str())
    }
}

/// The KV-scale tensors and sidecar entries of a model, by layer.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) layers: BTreeMap<usize, LayerSources>,
    /// Scales of draft layers beyond those that the config declares, with the draft's number.
    pub(super) undeclared_drafts: Vec<(String, usize)>,
    /// Tensors that look like KV scales and are refused.
    pub(super) refused: Vec<(String, Refusal)>,
    /// Zero points that are not zero, with their layer and role.
    pub(super) nonzero_zero_points: Vec<(String, usize, Role)>,
    /// Tensors of another role with a KV-scale suffix.
    pub(super) other_roles: Vec<String>,
    /// Scales of cross attention.
    pub(super) cross_attention: Vec<String>,
}

impl Collected {
    /// Reads the names of all tensors and the sidecar files.
    pub(super) fn gather(
        folder: &ModelFolder,
        tensor_parallel: TensorParallel,
        findings: &mut Findings,
    ) -> Result<Self, CheckpointError> {
        let mut collected = Self::default();
        for (shard_number, shard) in folder.shards().iter().enumerate() {
            for (number, tensor) in shard.tensors().iter().enumerate() {
                match classify(&tensor.name) {
                    NameClass::Scale(name) => {
                        let reading =
                            Reading::Tensor { shard: shard_number, tensor: number, format: name.format };
                        collected.add(folder, &name, Source { name: tensor.name.clone(), reading });
                    }
                    NameClass::ZeroPoint(name) => {
                        if let Some(layer) = folder.layers().number(name.layer)
                            && !is_all_zero(shard, tensor)
                        {
                            collected.nonzero_zero_points.push((tensor.name.clone(), layer, name.role));
                        }
                    }
                    NameClass::Refused(refusal) => collected.refused.push((tensor.name.clone(), refusal)),
                    NameClass::OtherRole => collected.other_roles.push(tensor.name.clone()),
                    NameClass::CrossAttention(_) => collected.cross_attention.push(tensor.name.clone()),
                    NameClass::Other => {}
                }
            }
        }
        for scale in folder.sidecar_scales(tensor_parallel, findings)? {
            let source = Source { name: scale.name, reading: Reading::Sidecar(scale.number) };
            collected.layer(scale.layer).by_role.entry(scale.role).or_default().push(source);
        }
        // Shards are read in the order of their files; sources are named in the order of their names.
        for layer in collected.layers.values_mut() {
            for sources in layer.by_role.values_mut() {
                sources.sort_by(|a, b| (a.precedence(), &a.name).cmp(&(b.precedence(), &b.name)));
            }
        }
        Ok(collected)
    }

    fn add(&mut self, folder: &ModelFolder, name: &ScaleName, source: Source) {
        match (folder.layers().number(name.layer), name.layer) {
            (Some(layer), _) => self.layer(layer).by_role.entry(name.role).or_default().push(source),
            (None, LayerIndex::Draft(number) | LayerIndex::Model(number)) => {
                self.undeclared_drafts.push((source.name, number));
            }
        }
    }

    fn layer(&mut self, layer: usize) -> &mut LayerSources {
        self.layers.entry(layer).or_default()
    }

    /// Every name that is a KV scale, taken or refused.
    pub(super) fn scale_names(&self) -> Vec<&str> {
        let taken = self.layers.values().flat_map(LayerSources::names);
        let drafts = self.undeclared_drafts.iter().map(|(name, _)| name.as_str());
        taken.chain(drafts).chain(self.refused.iter().map(|(name, _)| name.as_str())).collect()
    }

    /// Notes what belongs to other caches or to none, so that nothing is passed over in silence.
    pub(super) fn note_passed_over(&self, findings: &mut Findings) {
        if let Some(first) = self.other_roles.first() {
            let message =
                format!("{} tensors of other roles are passed over, such as {first}", self.other_roles.len());
            findings.note(FindingCode::OtherRoleIgnored, None, message);
        }
        if let Some(first) = self.cross_attention.first() {
            let count = self.cross_attention.len();
            let message = format!("{count} scales of cross attention are passed over, such as {first}");
            findings.note(FindingCode::CrossAttentionIgnored, None, message);
        }
    }
}
