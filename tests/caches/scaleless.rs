//! A device without scales has no FP8 cache.

use gaudi_kv::cache::{CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::{
    AttentionProblem, AttentionWorkspace, Backend, Device, DeviceError, HeadScales, Plane, PlaneLayout,
    ProjectKernel, StorageDtype,
};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

/// A device whose kernels know nothing of scales.
#[derive(Debug)]
struct Scaleless;

/// A plane without memory.
struct NoPlane(PlaneLayout);

impl Plane for NoPlane {
    fn layout(&self) -> &PlaneLayout {
        &self.0
    }
}

impl Device for Scaleless {
    type Plane = NoPlane;

    fn generation(&self) -> Generation {
        Generation::Gaudi3
    }

    fn backend(&self) -> Backend {
        Backend::Hpu
    }

    fn description(&self) -> String {
        "a device without scales".to_owned()
    }

    fn applies_scales(&self) -> bool {
        false
    }

    fn allocate(&self, layout: &PlaneLayout) -> Result<NoPlane, DeviceError> {
        Ok(NoPlane(*layout))
    }

    fn write(&self, _: &mut NoPlane, _: &[bf16], _: &[usize], _: &HeadScales) -> Result<(), DeviceError> {
        Ok(())
    }

    fn read(&self, _: &NoPlane, _: &[usize], _: &HeadScales, _: &mut [bf16]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copy_blocks(&self, _: &mut NoPlane, _: &[(usize, usize)]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn export_block(&self, _: &NoPlane, _: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(Vec::new())
    }

    fn import_block(&self, _: &mut NoPlane, _: usize, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn attend(
        &self,
        _: &AttentionProblem<'_, NoPlane>,
        _: &mut AttentionWorkspace,
        _: &mut [f32],
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn project(&self, _: &ProjectKernel<'_>, _: &mut [bf16]) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[test]
fn a_device_without_scales_cannot_have_an_fp8_cache() {
    let one = ScaleFactors::ONE;
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
        let geometry = CacheGeometry::new(1, 128, dtype).unwrap();
        let errors = [
            MhaCache::new(&Scaleless, geometry, 1, (4, 4), (&one, &one)).err(),
            MlaCache::new(&Scaleless, geometry, 4, 4, &one).err(),
        ];
        for error in errors {
            match (dtype, error) {
                (StorageDtype::Fp8, Some(CacheError::NoScales { device })) => {
                    assert_eq!(device, "a device without scales");
                }
                (StorageDtype::Bf16 | StorageDtype::F32, None) => {}
                (_, other) => panic!("{dtype:?}: {other:?}"),
            }
        }
    }
}
